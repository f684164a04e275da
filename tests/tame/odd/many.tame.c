/* Many locals, parameters, waits, scopes and events. */
#include "odd.h"

#include <weft/tame.h>

#define TEN(x) x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))

static tamed many_locals(event(int) done)
{
	int v0 = 0, v1 = 1, v2 = 2, v3 = 3, v4 = 4, v5 = 5, v6 = 6, v7 = 7, v8 = 8, v9 = 9,
		v10 = 10, v11 = 11, v12 = 12, v13 = 13, v14 = 14, v15 = 15, v16 = 16, v17 = 17, v18 = 18, v19 = 19,
		v20 = 20, v21 = 21, v22 = 22, v23 = 23, v24 = 24, v25 = 25, v26 = 26, v27 = 27, v28 = 28, v29 = 29,
		v30 = 30, v31 = 31, v32 = 32, v33 = 33, v34 = 34, v35 = 35, v36 = 36, v37 = 37, v38 = 38, v39 = 39,
		v40 = 40, v41 = 41, v42 = 42, v43 = 43, v44 = 44, v45 = 45, v46 = 46, v47 = 47, v48 = 48, v49 = 49,
		v50 = 50, v51 = 51, v52 = 52, v53 = 53, v54 = 54, v55 = 55, v56 = 56, v57 = 57, v58 = 58, v59 = 59,
		v60 = 60, v61 = 61, v62 = 62, v63 = 63, v64 = 64, v65 = 65, v66 = 66, v67 = 67, v68 = 68, v69 = 69,
		v70 = 70, v71 = 71, v72 = 72, v73 = 73, v74 = 74, v75 = 75, v76 = 76, v77 = 77, v78 = 78, v79 = 79,
		v80 = 80, v81 = 81, v82 = 82, v83 = 83, v84 = 84, v85 = 85, v86 = 86, v87 = 87, v88 = 88, v89 = 89,
		v90 = 90, v91 = 91, v92 = 92, v93 = 93, v94 = 94, v95 = 95, v96 = 96, v97 = 97, v98 = 98, v99 = 99,
		v100 = 100, v101 = 101, v102 = 102, v103 = 103, v104 = 104, v105 = 105, v106 = 106, v107 = 107, v108 = 108, v109 = 109,
		v110 = 110, v111 = 111, v112 = 112, v113 = 113, v114 = 114, v115 = 115, v116 = 116, v117 = 117, v118 = 118, v119 = 119,
		v120 = 120, v121 = 121, v122 = 122, v123 = 123, v124 = 124, v125 = 125, v126 = 126, v127 = 127, v128 = 128, v129 = 129,
		v130 = 130, v131 = 131, v132 = 132, v133 = 133, v134 = 134, v135 = 135, v136 = 136, v137 = 137, v138 = 138, v139 = 139,
		v140 = 140, v141 = 141, v142 = 142, v143 = 143, v144 = 144, v145 = 145, v146 = 146, v147 = 147, v148 = 148, v149 = 149,
		v150 = 150, v151 = 151, v152 = 152, v153 = 153, v154 = 154, v155 = 155, v156 = 156, v157 = 157, v158 = 158, v159 = 159,
		v160 = 160, v161 = 161, v162 = 162, v163 = 163, v164 = 164, v165 = 165, v166 = 166, v167 = 167, v168 = 168, v169 = 169,
		v170 = 170, v171 = 171, v172 = 172, v173 = 173, v174 = 174, v175 = 175, v176 = 176, v177 = 177, v178 = 178, v179 = 179,
		v180 = 180, v181 = 181, v182 = 182, v183 = 183, v184 = 184, v185 = 185, v186 = 186, v187 = 187, v188 = 188, v189 = 189,
		v190 = 190, v191 = 191, v192 = 192, v193 = 193, v194 = 194, v195 = 195, v196 = 196, v197 = 197, v198 = 198, v199 = 199,
		v200 = 200, v201 = 201, v202 = 202, v203 = 203, v204 = 204, v205 = 205, v206 = 206, v207 = 207, v208 = 208, v209 = 209,
		v210 = 210, v211 = 211, v212 = 212, v213 = 213, v214 = 214, v215 = 215, v216 = 216, v217 = 217, v218 = 218, v219 = 219,
		v220 = 220, v221 = 221, v222 = 222, v223 = 223, v224 = 224, v225 = 225, v226 = 226, v227 = 227, v228 = 228, v229 = 229,
		v230 = 230, v231 = 231, v232 = 232, v233 = 233, v234 = 234, v235 = 235, v236 = 236, v237 = 237, v238 = 238, v239 = 239,
		v240 = 240, v241 = 241, v242 = 242, v243 = 243, v244 = 244, v245 = 245, v246 = 246, v247 = 247, v248 = 248, v249 = 249,
		v250 = 250, v251 = 251, v252 = 252, v253 = 253, v254 = 254, v255 = 255, v256 = 256, v257 = 257, v258 = 258, v259 = 259,
		v260 = 260, v261 = 261, v262 = 262, v263 = 263, v264 = 264, v265 = 265, v266 = 266, v267 = 267, v268 = 268, v269 = 269,
		v270 = 270, v271 = 271, v272 = 272, v273 = 273, v274 = 274, v275 = 275, v276 = 276, v277 = 277, v278 = 278, v279 = 279,
		v280 = 280, v281 = 281, v282 = 282, v283 = 283, v284 = 284, v285 = 285, v286 = 286, v287 = 287, v288 = 288, v289 = 289,
		v290 = 290, v291 = 291, v292 = 292, v293 = 293, v294 = 294, v295 = 295, v296 = 296, v297 = 297, v298 = 298, v299 = 299,
		got;

	twait {
		later(v299, mkevent(v0));
		later(1, mkevent(got));
	}
	trigger(done, v0 + v150 + got);
}
ODD(many_locals, 299 + 150 + 1)

static tamed many_parameters(int p0, int p1, int p2, int p3, int p4, int p5, int p6, int p7, int p8, int p9,
				int p10, int p11, int p12, int p13, int p14, int p15, int p16, int p17, int p18, int p19,
				int p20, int p21, int p22, int p23, int p24, int p25, int p26, int p27, int p28, int p29,
				int p30, int p31, int p32, int p33, int p34, int p35, int p36, int p37, int p38, int p39,
				int p40, int p41, int p42, int p43, int p44, int p45, int p46, int p47, int p48, int p49,
				int p50, int p51, int p52, int p53, int p54, int p55, int p56, int p57, int p58, int p59, event(int) done)
{
	twait {
		later(p59, mkevent(p0));
	}
	trigger(done, p0 + p30);
}

static tamed parameters(event(int) done)
{
	many_parameters(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
			20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39,
			40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, done);
}
ODD(parameters, 89)

static tamed deep(event(int) done)
{
	int n = 0;

	if (n >= 0) { int n0 = n; twait { later(n0 + 1, mkevent(n)); }
	if (n >= 1) { int n1 = n; twait { later(n1 + 1, mkevent(n)); }
	if (n >= 2) { int n2 = n; twait { later(n2 + 1, mkevent(n)); }
	if (n >= 3) { int n3 = n; twait { later(n3 + 1, mkevent(n)); }
	if (n >= 4) { int n4 = n; twait { later(n4 + 1, mkevent(n)); }
	if (n >= 5) { int n5 = n; twait { later(n5 + 1, mkevent(n)); }
	if (n >= 6) { int n6 = n; twait { later(n6 + 1, mkevent(n)); }
	if (n >= 7) { int n7 = n; twait { later(n7 + 1, mkevent(n)); }
	if (n >= 8) { int n8 = n; twait { later(n8 + 1, mkevent(n)); }
	if (n >= 9) { int n9 = n; twait { later(n9 + 1, mkevent(n)); }
	if (n >= 10) { int n10 = n; twait { later(n10 + 1, mkevent(n)); }
	if (n >= 11) { int n11 = n; twait { later(n11 + 1, mkevent(n)); }
	if (n >= 12) { int n12 = n; twait { later(n12 + 1, mkevent(n)); }
	if (n >= 13) { int n13 = n; twait { later(n13 + 1, mkevent(n)); }
	if (n >= 14) { int n14 = n; twait { later(n14 + 1, mkevent(n)); }
	if (n >= 15) { int n15 = n; twait { later(n15 + 1, mkevent(n)); }
	if (n >= 16) { int n16 = n; twait { later(n16 + 1, mkevent(n)); }
	if (n >= 17) { int n17 = n; twait { later(n17 + 1, mkevent(n)); }
	if (n >= 18) { int n18 = n; twait { later(n18 + 1, mkevent(n)); }
	if (n >= 19) { int n19 = n; twait { later(n19 + 1, mkevent(n)); }
	if (n >= 20) { int n20 = n; twait { later(n20 + 1, mkevent(n)); }
	if (n >= 21) { int n21 = n; twait { later(n21 + 1, mkevent(n)); }
	if (n >= 22) { int n22 = n; twait { later(n22 + 1, mkevent(n)); }
	if (n >= 23) { int n23 = n; twait { later(n23 + 1, mkevent(n)); }
	if (n >= 24) { int n24 = n; twait { later(n24 + 1, mkevent(n)); }
	if (n >= 25) { int n25 = n; twait { later(n25 + 1, mkevent(n)); }
	if (n >= 26) { int n26 = n; twait { later(n26 + 1, mkevent(n)); }
	if (n >= 27) { int n27 = n; twait { later(n27 + 1, mkevent(n)); }
	if (n >= 28) { int n28 = n; twait { later(n28 + 1, mkevent(n)); }
	if (n >= 29) { int n29 = n; twait { later(n29 + 1, mkevent(n)); }
	if (n >= 30) { int n30 = n; twait { later(n30 + 1, mkevent(n)); }
	if (n >= 31) { int n31 = n; twait { later(n31 + 1, mkevent(n)); }
	if (n >= 32) { int n32 = n; twait { later(n32 + 1, mkevent(n)); }
	if (n >= 33) { int n33 = n; twait { later(n33 + 1, mkevent(n)); }
	if (n >= 34) { int n34 = n; twait { later(n34 + 1, mkevent(n)); }
	if (n >= 35) { int n35 = n; twait { later(n35 + 1, mkevent(n)); }
	if (n >= 36) { int n36 = n; twait { later(n36 + 1, mkevent(n)); }
	if (n >= 37) { int n37 = n; twait { later(n37 + 1, mkevent(n)); }
	if (n >= 38) { int n38 = n; twait { later(n38 + 1, mkevent(n)); }
	if (n >= 39) { int n39 = n; twait { later(n39 + 1, mkevent(n)); }
	if (n >= 40) { int n40 = n; twait { later(n40 + 1, mkevent(n)); }
	if (n >= 41) { int n41 = n; twait { later(n41 + 1, mkevent(n)); }
	if (n >= 42) { int n42 = n; twait { later(n42 + 1, mkevent(n)); }
	if (n >= 43) { int n43 = n; twait { later(n43 + 1, mkevent(n)); }
	if (n >= 44) { int n44 = n; twait { later(n44 + 1, mkevent(n)); }
	if (n >= 45) { int n45 = n; twait { later(n45 + 1, mkevent(n)); }
	if (n >= 46) { int n46 = n; twait { later(n46 + 1, mkevent(n)); }
	if (n >= 47) { int n47 = n; twait { later(n47 + 1, mkevent(n)); }
	if (n >= 48) { int n48 = n; twait { later(n48 + 1, mkevent(n)); }
	if (n >= 49) { int n49 = n; twait { later(n49 + 1, mkevent(n)); }
	if (n >= 50) { int n50 = n; twait { later(n50 + 1, mkevent(n)); }
	if (n >= 51) { int n51 = n; twait { later(n51 + 1, mkevent(n)); }
	if (n >= 52) { int n52 = n; twait { later(n52 + 1, mkevent(n)); }
	if (n >= 53) { int n53 = n; twait { later(n53 + 1, mkevent(n)); }
	if (n >= 54) { int n54 = n; twait { later(n54 + 1, mkevent(n)); }
	if (n >= 55) { int n55 = n; twait { later(n55 + 1, mkevent(n)); }
	if (n >= 56) { int n56 = n; twait { later(n56 + 1, mkevent(n)); }
	if (n >= 57) { int n57 = n; twait { later(n57 + 1, mkevent(n)); }
	if (n >= 58) { int n58 = n; twait { later(n58 + 1, mkevent(n)); }
	if (n >= 59) { int n59 = n; twait { later(n59 + 1, mkevent(n)); }
	trigger(done, n + n0 + n30);
	}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}
}
ODD(deep, 90)

static tamed many_waits(event(int) done)
{
	int n = 0;

	HUNDRED(twait { later(n + 1, mkevent(n)); })
	{
		HUNDRED(
			if (n > 0)
				twait { later(n + 1, mkevent(n)); }
		)
	}
	trigger(done, n);
}
ODD(many_waits, 200)

static tamed many_events(event(int) done)
{
	int x[200], i = 0, sum = 0;

	twait {
		HUNDRED(later(i % 5, mkevent(x[i])); i++; later(1, mkevent(x[i++]));)
	}
	for (i = 0; i < 200; i++)
		sum += x[i];
	trigger(done, sum);
}
ODD(many_events, 300)

static void give(event(int, char, short, long, double, float, unsigned, struct odd_pair) e)
{
	trigger(e, 1, 2, 3, 4, 5, 6, 7, ((struct odd_pair){ 8, 9 }));
}

static tamed many_values(event(int) done)
{
	int a;
	char b;
	short c;
	long d;
	double e;
	float f;
	unsigned g;
	struct odd_pair h;

	twait {
		give(mkevent(a, b, c, d, e, f, g, h));
	}
	trigger(done, a + b * 10 + c * 100 + (int)d * 1000 + (int)e * 10000 + (int)f * 100000 +
			      (int)g * 1000000 + h.a * 10000000 + h.b * 100000000);
}
ODD(many_values, 987654321)
