/* clang.h - the part of libclang's C interface that the tools use.
 *
 * Written out here so that building the tools needs no headers of libclang, and loaded when they
 * run (load.c). All of it is the same in libclang 13 and later: kinds that have
 * changed their numbers since are not used.
 */
#ifndef CLANG_CLANG_H
#define CLANG_CLANG_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
	const void *data;
	unsigned flags;
} CXString;
typedef struct {
	const void *data[2];
	unsigned number;
} CXSourceLocation;
typedef struct {
	const void *data[2];
	unsigned begin, end;
} CXSourceRange;
typedef struct {
	int kind;
	int extra;
	const void *data[3];
} CXCursor;
typedef struct {
	int kind;
	void *data[2];
} CXType;
struct CXUnsavedFile {
	const char *name;
	const char *text;
	unsigned long size;
};
typedef void *CXIndex, *CXTranslationUnit, *CXDiagnostic, *CXFile;
typedef int CXVisitor(CXCursor cursor, CXCursor parent, void *arg);
typedef int CXFieldVisitor(CXCursor field, void *arg);
typedef void CXInclusionVisitor(CXFile file, CXSourceLocation *stack, unsigned depth, void *arg);

enum { CXVisit_Break, CXVisit_Continue, CXVisit_Recurse };

enum {
	CXCursor_UnexposedDecl = 1,
	CXCursor_StructDecl = 2,
	CXCursor_UnionDecl = 3,
	CXCursor_ClassDecl = 4,
	CXCursor_EnumDecl = 5,
	CXCursor_FieldDecl = 6,
	CXCursor_EnumConstantDecl = 7,
	CXCursor_FunctionDecl = 8,
	CXCursor_VarDecl = 9,
	CXCursor_ParmDecl = 10,
	CXCursor_TypedefDecl = 20,
	CXCursor_CXXMethod = 21,
	CXCursor_Namespace = 22,
	CXCursor_LinkageSpec = 23,
	CXCursor_Constructor = 24,
	CXCursor_Destructor = 25,
	CXCursor_ConversionFunction = 26,
	CXCursor_TypeRef = 43,
	CXCursor_MemberRef = 47,
	CXCursor_LabelRef = 48,
	CXCursor_FirstExpr = 100,
	CXCursor_UnexposedExpr = 100,
	CXCursor_DeclRefExpr = 101,
	CXCursor_MemberRefExpr = 102,
	CXCursor_CallExpr = 103,
	CXCursor_IntegerLiteral = 106,
	CXCursor_StringLiteral = 109,
	CXCursor_CharacterLiteral = 110,
	CXCursor_ParenExpr = 111,
	CXCursor_UnaryOperator = 112,
	CXCursor_ArraySubscriptExpr = 113,
	CXCursor_BinaryOperator = 114,
	CXCursor_CompoundAssignOperator = 115,
	CXCursor_ConditionalOperator = 116,
	CXCursor_CStyleCastExpr = 117,
	CXCursor_CompoundLiteralExpr = 118,
	CXCursor_InitListExpr = 119,
	CXCursor_AddrLabelExpr = 120,
	CXCursor_StmtExpr = 121,
	CXCursor_GenericSelectionExpr = 122,
	CXCursor_GNUNullExpr = 123,
	CXCursor_CXXStaticCastExpr = 124,
	CXCursor_CXXFunctionalCastExpr = 128,
	CXCursor_CXXNullPtrLiteralExpr = 135,
	CXCursor_UnaryExpr = 136,
	CXCursor_LastExpr = 199,
	CXCursor_LabelStmt = 201,
	CXCursor_CompoundStmt = 202,
	CXCursor_CaseStmt = 203,
	CXCursor_DefaultStmt = 204,
	CXCursor_IfStmt = 205,
	CXCursor_SwitchStmt = 206,
	CXCursor_WhileStmt = 207,
	CXCursor_DoStmt = 208,
	CXCursor_ForStmt = 209,
	CXCursor_GotoStmt = 210,
	CXCursor_IndirectGotoStmt = 211,
	CXCursor_ContinueStmt = 212,
	CXCursor_BreakStmt = 213,
	CXCursor_ReturnStmt = 214,
	CXCursor_DeclStmt = 231,
	CXCursor_UnexposedAttr = 400,
	CXCursor_AnnotateAttr = 406,
	CXCursor_MacroExpansion = 502,
};

enum {
	CXType_Invalid = 0,
	CXType_Unexposed = 1,
	CXType_Void = 2,
	CXType_Pointer = 101,
	CXType_Record = 105,
	CXType_Enum = 106,
	CXType_Typedef = 107,
	CXType_FunctionNoProto = 110,
	CXType_FunctionProto = 111,
	CXType_ConstantArray = 112,
	CXType_IncompleteArray = 114,
	CXType_VariableArray = 115,
	CXType_Elaborated = 119,
	CXType_Attributed = 163,
	CXType_Atomic = 177,
};

enum { CXTranslationUnit_DetailedPreprocessingRecord = 1 };
enum { CX_SC_Extern = 2, CX_SC_Static = 3 };
enum { CXLinkage_External = 4 };
enum { CXDiagnostic_Warning = 2, CXDiagnostic_Error = 3 };

/* X(type, name, arguments) for each function; its name there is clang_name. */
#define CLANG_FUNCTIONS(X) \
	X(CXIndex, createIndex, (int, int)) \
	X(int, parseTranslationUnit2, \
	  (CXIndex, const char *, const char *const *, int, struct CXUnsavedFile *, unsigned, \
	   unsigned, CXTranslationUnit *)) \
	X(void, disposeTranslationUnit, (CXTranslationUnit)) \
	X(void, disposeIndex, (CXIndex)) \
	X(unsigned, getNumDiagnostics, (CXTranslationUnit)) \
	X(CXDiagnostic, getDiagnostic, (CXTranslationUnit, unsigned)) \
	X(int, getDiagnosticSeverity, (CXDiagnostic)) \
	X(CXSourceLocation, getDiagnosticLocation, (CXDiagnostic)) \
	X(CXString, getDiagnosticSpelling, (CXDiagnostic)) \
	X(void, disposeDiagnostic, (CXDiagnostic)) \
	X(const char *, getCString, (CXString)) \
	X(void, disposeString, (CXString)) \
	X(CXCursor, getTranslationUnitCursor, (CXTranslationUnit)) \
	X(unsigned, visitChildren, (CXCursor, CXVisitor *, void *)) \
	X(CXString, getCursorSpelling, (CXCursor)) \
	X(CXString, getCursorUSR, (CXCursor)) \
	X(int, getCursorLinkage, (CXCursor)) \
	X(CXSourceLocation, getCursorLocation, (CXCursor)) \
	X(CXSourceRange, getCursorExtent, (CXCursor)) \
	X(CXSourceLocation, getRangeStart, (CXSourceRange)) \
	X(CXSourceLocation, getRangeEnd, (CXSourceRange)) \
	X(void, getFileLocation, (CXSourceLocation, CXFile *, unsigned *, unsigned *, unsigned *)) \
	X(CXFile, getFile, (CXTranslationUnit, const char *)) \
	X(int, File_isEqual, (CXFile, CXFile)) \
	X(CXString, getFileName, (CXFile)) \
	X(CXString, File_tryGetRealPathName, (CXFile)) \
	X(const char *, getFileContents, (CXTranslationUnit, CXFile, size_t *)) \
	X(int, Location_isInSystemHeader, (CXSourceLocation)) \
	X(CXCursor, getCursorReferenced, (CXCursor)) \
	X(CXCursor, getCanonicalCursor, (CXCursor)) \
	X(CXType, getCursorType, (CXCursor)) \
	X(CXType, getCanonicalType, (CXType)) \
	X(CXType, getPointeeType, (CXType)) \
	X(CXType, getResultType, (CXType)) \
	X(int, getNumArgTypes, (CXType)) \
	X(CXType, getArgType, (CXType, unsigned)) \
	X(unsigned, isFunctionTypeVariadic, (CXType)) \
	X(CXType, getArrayElementType, (CXType)) \
	X(long long, getArraySize, (CXType)) \
	X(unsigned, isConstQualifiedType, (CXType)) \
	X(unsigned, isVolatileQualifiedType, (CXType)) \
	X(unsigned, isRestrictQualifiedType, (CXType)) \
	X(CXString, getTypeSpelling, (CXType)) \
	X(CXCursor, getTypeDeclaration, (CXType)) \
	X(CXType, Type_getNamedType, (CXType)) \
	X(CXType, Type_getValueType, (CXType)) \
	X(long long, Type_getAlignOf, (CXType)) \
	X(unsigned, Type_visitFields, (CXType, CXFieldVisitor *, void *)) \
	X(unsigned, equalTypes, (CXType, CXType)) \
	X(unsigned, equalCursors, (CXCursor, CXCursor)) \
	X(unsigned, isCursorDefinition, (CXCursor)) \
	X(CXCursor, getCursorDefinition, (CXCursor)) \
	X(int, Cursor_getStorageClass, (CXCursor)) \
	X(unsigned, Cursor_isAnonymous, (CXCursor)) \
	X(int, Cursor_getNumArguments, (CXCursor)) \
	X(CXCursor, Cursor_getArgument, (CXCursor, unsigned)) \
	X(CXCursor, Cursor_getVarDeclInitializer, (CXCursor)) \
	X(CXString, getCursorPrettyPrinted, (CXCursor, void *))

struct clang {
#define X(type, name, arguments) type(*name) arguments;
	CLANG_FUNCTIONS(X)
#undef X
};
extern struct clang clang;

void tame_load(void);
char *tame_string(CXString s); /* a copy; s is given back */

#endif
