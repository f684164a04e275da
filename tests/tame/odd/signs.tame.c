/* Digraphs, comments in odd places, unicode, odd literals. */
/* flags: -Wno-multichar -Wno-trigraphs -Wno-implicit-fallthrough */
%:include "odd.h"
#include <wchar.h>
#include <weft/tame.h>

static tamed digraphs(event(int) done)
<%
	int list<:3:> = <% 1, 2, 3 %>, got;

	twait <%
		later(list<:1:>, mkevent(got));
	%>
%:define NINE 9
	trigger(done, got + NINE * 10);
%>
ODD(digraphs, 92)

%:define TEXT(x) %:x
%:define PASTE(a, b) a%:%:b

static tamed digraphs_in_macros(event(int) done)
{
	int ab = 3, b = 4;

	twait {
		later(PASTE(a, b), mkevent(b));
	}
	trigger(done, b + (int)strlen(TEXT(ab)) * 10);
}
ODD(digraphs_in_macros, 23)

static/**/tamed/* twait { */comments/* ( */(/* ) */event/* */(/* */int/* */)/* */done/* */)/* { */
/**/{ // }
	int/**/got/* = */,/**/sum/**/=/**/1;

	twait/* (r) */
	/* { */
	// }
	{ // {
		later/* { */(/* ( */2/* , */,/**/mkevent/* } */(/**/got/**/)/**/)/**/;
	}/* */sum/**/+=/**/got;
	for/**/(/**/int i/**/=/**/0/**/;/**/i/**/</**/2/**/;/**/i++/**/)/**/twait/**/{/**/later(i/**/,mkevent(got));/**/}/**/
	/* "unterminated */ int c/**/=/**/'/*'/* */; const char *s = "/* \" */"; // '
	trigger/**/(done, sum + got * 10 + (int)strlen(s) * 100 + (c != 0) * 1000);
	/**/return/**/;/**/
} /* */
ODD(comments, 3 + 10 + 700 + 1000)

static tamed größe(int länge, event(int) fertig)
{
	int straße = länge, \u00e4 = 2, Ж = 3;
	const char *text = "ä€😀", *é = u8"é";

	twait {
		later(straße + ä, mkevent(Ж));
	}
	trigger(fertig, Ж + (int)strlen(text) * 10 + (int)strlen(é) * 1000);
}

static tamed unicode(event(int) done)
{
	größe(5, done);
}
ODD(unicode, 7 + 90 + 2000)

static tamed literals(event(int) done)
{
	const wchar_t *wide = L"w\x41\u20ac" L"d";
	char oct[] = "\1012\0" "3", quote = '\'', both = '"', back = '\\';
	int chars = 'ab', hex = 0xFp0 > 14, number = 0b101, big = 10 ? 1 : 0;
	long long l = 1ULL << 40, mask = 0x7fffffffL;
	double d = .5e1, x = 0x1.8p1;
	const char *q = "??( not a trigraph ?" "?)";

	twait {
		soon(mkevent());
	}
	trigger(done, (wide[1] == L'A') + (wide[3] == L'd') * 10 + (int)sizeof oct * 100 +
			      (quote == '\'' && both == '"' && back == '\\') * 1000 +
			      (chars == 'ab' && hex && mask > 0 && big) * 10000 + number * 100000 +
			      (int)(l >> 40) * 1000000 + (int)(d + x) * 10000000 +
			      (q[0] == '?') * 2);
}
ODD(literals, 1 + 10 + 500 + 1000 + 10000 + 500000 + 1000000 + 80000000 + 2)

#define IN_TEXT(x) "twait { " #x " }"

static tamed words_in_text(event(int) done)
{
	char text[] = "twait { mkevent(x) } // trigger(e)", brace = '}', q[] = IN_TEXT(mkevent(y));
	int got;

	twait {
		length_later("} /* mkevent(got) */ {", mkevent(got));
	}
	trigger(done, (int)strlen(text) + (brace == '}') * 100 + (int)strlen(q) * 1000 + got * 100000);
}
ODD(words_in_text, 34 + 100 + 20000 + 2200000)

static tamed spaces (event ( int ) done)
{
	rendezvous ( int ) r;
	int	got	,	id;

	later ( 3 , mkevent ( r , 4 , got ) ) ;
	twait ( r , id ) ;
	twait
	{
		later
			(
				got
				,
				mkevent
				(
					got
				)
			)
			;
	}

	trigger (
		done
		,
		got + id
	);
}
ODD(spaces, 7)

static tamed dense(event(int)done){int x=1,y;rendezvous(int)r;if(x)twait{later(x,mkevent(y));}else{}for(;x<3;x++)twait{soon(mkevent());}later(x,mkevent(r,y,x));twait(r,y);do twait{soon(mkevent());}while(x++<3);trigger(done,x*10+y);}
ODD(dense, 41)
