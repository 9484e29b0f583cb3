"""Private files as they were written before they shared one module, with a log that a killed process left behind.

Made at commit c2f35f2: each holder of `private_holders` kept item 1 and closed its file, opened it again and kept item 2;
then all files were copied while it was still open, but for what SQLite shares between processes. They are never made again.
"""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

__all__ = ["OLDER_FILES", "unpack_older_files"]


def unpack_older_files(name: str, folder: Path) -> None:
    """Write the files of a holder into a folder, readable by their owner only."""
    content = zlib.decompress(base64.b85decode("".join(OLDER_FILES[name].split())))
    while content:
        parts = []
        for _ in range(2):
            size, content = int.from_bytes(content[:4], "big"), content[4:]
            parts.append(content[:size])
            content = content[size:]
        path = folder / parts[0].decode()
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(parts[1])
        path.chmod(0o600)


OLDER_FILES = {
    "ledger": r"""
c-rmVO>7%k9RTpL(|kB-(nSjj)e33kOKLR^^WMCVd0DMQx-nI?*>*QgC8|AG?=x|+J;pO`sY<kRdgFqSkU-
+HS2%E3apJ&Xxo|+@#*M>r;{rD>TzLLUQ#WaWM5rqNpT>#j&CHwk|IgU+d;XXp2ue+B_HB2=s37<(xcl)=Be$VTyDgcAaqw19EC$~S!ypKX{<auAv*2%+PRt
jAS1Se^y0E<RvtX(8gW$>!S3X<ruiU@<&&!3&zg@b#^u^+~F9rYr008*E(XTDdzr!mFM>Ov?_Wf(JtY>7`)@|F*+pKPE)8_X1!uNM;TYI%|Z}-;Co3-
8W)GfjrwQt|qt%cjQotj_w&h4qy7Q?X{wVStYhj;yI@9%}XTet4ku5I18v%9w*u8mg>Qy0o`^olX`RfKK((BIPsvb}H3TIJoac6+;DTYPC8y^fLpSsbG+CUM
;RXnX5_5=Xo+zk2<8;piK=RLx0)(@tJbdwDiBTbe|$bz`R%PAv?t`S#1q=HXuLJA2{nJN|ZWXJ<V$jeVQFP&#Pj<M7t)z1kob$K{jwKH9zY;nwc`@Ppd@<BB
I$RVwe5=2kzxUI-d(W51t$ujyaT*JUqHhx7HRhSkwj!D4@NZho~=DI9(CWYArIr+FOncy9i*kjKl;jMz1NhP$0^qkS=9pQx`=d3Szp^-
kp#v5#AL9Qt^Ep+7S_zZ%DdeswBx+kGhWM%vC!DVjSY2gfUf*V?_7^5@nht`lLbhq{?&*3{K;*p>dhnbAonPqtzlZZ<W0>9oC17WzHQmK`Pext*So=P>Ko7Y
@oK`J<4mnLcKj)!i2laweNoWtI0X{Trv{r0K`UW>PRa?r#SD{o?TSd|Eo0p7Epl`MH_Xk~4Yyzx1f&jY-
~~h4fwD&@*y##+j~C^LV<f)3py9X)l{DKaknMRKoJY{Oa0Tp}%%A(9tv2b2G)$!W=)dUGq<BnLi6pIoJ*3Q_;w$T3A^gbmXu6Ch!vg0000000000UOU@`OQr
s@<%C<6;Dq4B3Ca>K7;}cx7z-
!0;M5Uo3BgV(zbsLhAu4RlBOwJ5(V+idTy6y`J^u#)00000006+nIGQak1s}e1wZGP1?l0pAvnoPW#P=}XjPNFkHX=r2impe|W)!8JyqflMZQEHddr}^K-
lM!(R$3+rBbFJ9I5HeFMh#Ddiz!d6LoQLo#4b`%%m}4SN0E&%Qj!~v7)IqooL~~^h;yl!G)(G9Bdn#h)MCt0lK5%`wvuUKkYCdv79n8>B|@9XaE++336siM&
bdXF7)Lc?R1x33bcQ-1M8r)jxfYW8)+x;-r-
W+F6(dg<3d1}+t)86+LK8m9!}#s?Ngj0CYBlnfZ4Yu0JKyc~JCv9r87YOaBtBXqg^Un3)Jnv$QbyZI#!kh)8%!1Bh&y4K5T?9dHa64UMrZKh4PT)z$kSXl%b
QQiwv#oQ!&0BK^>VM>$OpyJJdnOI`mtXijj48RD}8AFhT1lpS$Pw!m%HhsXLsry+pQ0l4ND#!q<%YJl=+$u56|0wKkuO&z5jm@_z3_2000000002z)c;zcbh
Y&M+k*j*(MU!VMt<_WckXnIoioS~nXpI^Y@>vtNXEX?t{K&YP$!Lzq*fLSMqNZWC))8iN;vhMdKo8#GG~#b1p7)zOso=IFewNT%1LT?jIE#+$Agg&LbR{hDM
94ou>b#$z)t`G000000001Zqm*W@mPVrxgZKY~w;&?`000000002Mn+*E@0000000000z?*Lo`u_j`00000006)nZ}j_rp9g*d0000000000z-
wctFnhJXTo`?Q|Gd|ND2{&r@7IB!00000000000Pq_5U@!nsx|jg~U)^%kntj{dFsk}UHiIBK;GfPN1=YWNee%tKKdpT6x6&tH{^)nV_{v|Gy4yeXMKdSM=a
Rqwcq93P8GM*v=CTb|ddn^U4*&oF00000&gW=$W_a=V{@U3WkLM_kM;DJzJ9#zj9bY`&H1=&axNtnBJdOz#Oq0QN;uVSsBbqD6SR{DF5K>AxVX%yhl!_&cF|
ASJVl5mIqI{?kH8x>VIm<b>$P(kIMvN+g8FGd?Aw<MYEV&kv`d*pROma%7_WK!h**F?r*$p#{HL*e>qIeQ%VVxtG8zcou{2Z|+W(mfKiI^hFoVG4;$<b`_m3
g3kgO}&wy#2@W;d!q>f8IPkT__Cm@U(h%9tchNC=W*FGPB2d&}pmH$Xm8O$VKdM;`|OJrbtFgVJwM{mPjF^!AW8z;#es&xP)HpRE(XZ${$7Ugk?gQ@_O0WOm
`cdypgtjg}xw9bJ;9!J}KKy)@Tk(ea_a)y>=rX6if3!`o`$Tet|Tm+O@6pq4gVT+iYg#O|)L_rjMT8sdsF*K3Fy^d32Ea?R-
(@Yd$=*oN%iWoDd&~pe*5nF=sf9v2aogP93q95Z`d+mnF(4m<k*7NceM2MCUz}{?S=FIWBPb=b!$*ko@W=gK>f46%$<f-
2VXp000000002Me{H9D;%fot9o?F_*e@9bqu&`^oQw<n^1)aC_{q-RpBIPY0{g+0efatT0000000000aNePT3mh3JUgVb#{spj!+pP
""",
    "memory": r"""
c-
rmT&r9227zgkt>9kmI>8*kXA0mYcTKoaJ(`x4;D|YMF#W|0ueT72P)HlhbUZnjy243{&X*&+_Kkzy{?!VaBVab}bw#e9S+xULS`{sS0!29IQEidm&L{qk~9o
fm(YedWR`c=8%2|jeBZF#&#X;M|%WF{gtC<z)0`w#B)m8g*G*DboAO8En2I&3`rMA}AB0RR910002|p^lo&%*`p?qG#2b;>Z`S*Kk_yppn?B8b#A!v-
qTJ@F2{&xXGsR*5sGf((__<pLdM?MV3~p?%0hJA^Q(sRD!ZwE-
&z2$$VDXHMv^ZD?ROQE6L34tkOI9ncHf)$3nW%O&!S_1v%Fa>NsaS>>`i8%P{`VYWiY4C`H?m-dHrnkvkKKvkk|OMqC)1NGkk^*KR4e000000002spOc-
?v`k^8pdU7UU5{1{TE1Nql9&5d@_P9HPicHD00000004mh-1Oi;z|yhRBuYQpIGya#(wCWdWnljO<D1Xx;@f%lZ2gVA{6Nv+fH?mBB72>@N_-
6$6IAUZX}3WI000000001gjs7-))n9EBSk3Fdx0&Dv@nWrH
""",
    "rappor": r"""
c-
rmVZ%i9y90%~HEzmzuy2cnxI>Mt6C@BmKY?LfDlyPF+*_Lt)croV{4ps+ky&jmwWLOsxr_scJb6Iq}Fzlba85u7ANvy^fnoQ&7qA?nm@MgNOy^v_4WYg=PJJ
v!S;0q=BesWFkdOz}fpXZ)SdY4NfgcwCW8jXnC27`q7Np}|;k_0*w5l4B6Hjynvt0ire5<;}{tB@=!kzWOOY-
^O2?w)|3tWHa|4QR~CKQ?|qEGI10rRPiA&9mkQN?tDhvp8&;H+kh900000um*8!iQZOUVTkjR7#bcHL{W%EBjK13+czkT2$G;~?+P$(j-gz@)7i-
cXl@;CXCC$i7}~+Gj9ljPE?3CAIz3+6E$`XI(SY02&Dh=Tz5rK8YYqreDfzvT3gd!UQ@fKg-
j2AnIA5l*=petAOzAo$Q;)yH{ckfFO?q3c%@FU;WEzO<kBE}e`^;8Op6r^HBb3>{{w&7Tv!r|d&sp+~%to_V4cW(PoEJlUa73LK>UK_^+`5&cqgJdxlRjUjb
now;Dc>k<Jd?RdZ*!Cz;(IfhVuB=v!oy1UmCc+)IaMnMNhw%=p29qN(p|q>o_qte(LB)teOX0?Cf*<=hgUsK)s;deh`XI-?l_I@<NU~&oP+hXQ-
8qom^;u<cQgHUG#E-w=H$m-A4k1CEL%%^J=`O{9yyM$*V7Tz>C0?3O}r)5VrKeh-U_l>Q%((gR34^Cc$LP|71ZP9nB*wsX>nYe?&Ho>i|SNTS9DpeE>AUkm>
*rOi$n523u06Zg(b={eO$hFpU~*b%F8wJds6KxM@V_sX0@swKf8QvVj;P=xt*$`2ZVz;Bb&T7*I0fa@&W(=000000Gm&xMrUM?`7VtmZrZ23x0rp`whrIFy~
ZY*rN#HZoa+3d^Omc?l)C=ENaO_o00000001_DCLLSfR(<o)__XWO#Xy6-
;acHWKg~Wn_3rDT=JN}4v4<R=RJQJDbhbPw1cL)RS_Yb1o$2fUABnsG00000006)yRH<VPiQ+$Ao49<vYw5$;#oLWXZ|kWk^vcAqeTTm(nOpkW^-
}u!{|b>8000000002kL>xMH>qplwTU+}kU5B20Ve-UL*9`5tvH$q!)rH>*+MI1OyN425wcM=!AYlE|{0Je`-
!f739I2nbkB}{?3hVZ_t{iLT{AUh3tImDg!IR7n0V<!rUGh%rp7O5A<jn-
F<pQx>z~ck}000000093pRXSGF_@aNh?(=5nq2Q&m1;=OA(#5~7PE{RzZ@TxXre97bmb7bmn1H1JVL+jBU*P1odkx<`lPFE!7dTBUr}3Bp00000006*$E&1T
UT)*S_#Ur-z$It!#s^RQ>tZGliy)$Rud}DefI(h2n?{6F_TCQE|Lk52X8BEH;
""",
    "mapping": r"""
c-rmUUu+ab7y$6O>)Gl>?;5Mt5JRSg1e#pS-u~YQBCS2;r2l(oTZq=#-C26=-R-
5jSG`m$t;R$usf30Y63Yu#gSGL2n!tmAFIFI_iX;^S7&WOi#)v*Z(4gC`v~czTqKT4xzwFNKO=iEDeVlJ+2O$*bp*d@VWoPwVm2-
&@`p(Mgq?clgYQ5CPPGt!9(OxTIrg7MxCMk+HVnrjW%#yI7a*QhSn!ndHZKs}6QB-
t;GZc~Il`yaH9H+>HXL(r^I8BojiIH?pVI+aqL{Zcz5g17{7{lNh*^vD-V`^PE?1Yk4Dj9rOH)O(TG|W;W^Rg-
^3>%g?St67$ET_wgAhSBB@&ZpKMwJCgU=1n}$?$7kRO_*_DJK@AD7teq<wb#&iOl$&=k%vYCX+~SuhLb7Hlfz$x`a)!VfLnojX6||yk4{kW2dFpIelnZLEeA
Q^^4Zp`X;n8FRIc!_buEU7(v1PfjQ>~0000000000c&ebNw5-%K=t-n?`n;K@of&5iZl)LJ-
<I#OmPmChg5wR*=6D208)_r%c)1O3Y`|_iyx!8x3=QFoMYFn@&ZQ~_8E;W(X{l%EQJbhq>NazWg1=(Ms%z>ZH{Fh7k@gsFXmrkaU0n#<WIL{@Ypl7U%AzDm_
59kUUh^XO@uH@dXnl1{2i_9tSQ@DlyrKfPMPr*A<1yUQ*cPqTJ?@AH*SRAms+qOj!h6$*-737^%}==9-
4H#5`$#gI_aJ$_ETjZH!Fl8y00000000000JzgVR8UgcLvw#y!QjsS<H$Jx0000000000a61Mo3R^>iwZgXYY&zk7L}2I2L%2Lc>;z5Q&Sf}+4U)9z(|bPY?
i?NN(6$U;yl{Hz(l0fssYuh<4__X?R=jpxIC1_hGduIlz2_&2`lmYiHHS{U{qyeRuE#5f-
~H{yZqJ61uV)@SzJtAZxqkes(O(DJt|;9TPe!hO_CV^~tK)xs^tyfY{?8LTk8a+0>4-W0KF@{)mX{@`;1!WmWG*Z$&i@Z1=Kufz00000006-
M$QEC#5W0oj!b<b~{CtBGF0i~KK;?5Ji4bm*1`3Bz<u?x_RP6S6&%lq#ohO6)tIrHQviH>5YP7f;z*2qfvB?iA%AzM1vI*Y6Ary=|1poj5000000Pvr?jaT$
zv%fdLymjQn5#M`zo9~(&OUxK^JEmtl+UJj{tIu3`;@YQIx}SZcY0vcCZw|!f-
w70!9JpFmf0jEtz3mHW_qwf}qeHXa%dfnY_V4??JwE5NL~UYn7qgljKZg(Ye>?hd$qU}s4t&^mdR|&3GrS@QqR0rGpeT|UmL%y8T1|i!cL?-
d&kL*xtU8$cso(v|z#HsB!NX1g0000000000fPdsxR|c$<X2?%-{F|!`{sec0B{l
""",
    "register": r"""
c-rmVUuYc19S88ev#qmbOG@g*a;gNj=YXa7B+u-
>**$9fCsq>?*{)?7$8lXTvok9lI^A7vS56#PNlvB@g%;X|JT%2gpifD$QwX#!Erf;`ni2?wv=~fN*NJh`#+10}LnwjHolfCSb!rTut=;d3y}jL^c4vM&yZ5k
jb6UeNx~J9AcypZ0%A-Si(J+j6<5|h8%8XT5Rf(yCIrE6B#)Wdpq@5)`qs%R)Eri1&&kI!O`_lD0tL1W{<B}4aQ%|^7s1yw>;ZtsVA*DW}7Uz-lgwF_3Qu&t
SNy{a^YrD*4jw=`!vQt&c;gm^rQAC&JS&k%8$cdx4PknAvn}uQM*wnGCz$cEh{4k)pHep5FWy*Gm6}n0~)b0$YR5%^a&eYR#9O3ASl}8xy9lKK>=jy7OEX0Y
b4oP7c&l~&pjusMSM&;@ZPfXjm#Ym@(ZKkO=P3u>Emqi)<THdmrT3pz-bL>9j>e9wgnCj|2Vys$y!RUFW=g#iOyI$zty5=8izPI|qn#ceE0001h&s8n8GSl1
Jo2v1Ii=v7OMHM$@tL_~e-abBTj&I*FI&3yVW`BhzQ|9>agX88`$3}K-A3JD1Fnlm)PVu-I-
n~b^_K%L{%t}=qDU@g9rSTaqReNk;U{y!&mfn<6C`t8b{BTj<a!l~qq}*7aXjDBx8*iOcnT2dOH?p19Tf~jo%C>A9A+x{!c9m>P^}Cs3;jyJ@m<LA2@87e3+
#K6;U}R@)Q%9z^uP-$}*r-aXxG-
6Yn{S!6>Y72bzpBDQrJzblqvV|VX#zQO;T~>e_xSLA!(+MTE=$^`(_GM!ZA+O8#WhPBSeotH<(b|M8&b8IMz&$Os`pFu?P=VyxS}oVmOr#KRnAQKWOFGhsN!
NYR$MoNxnp$Cj+T?zmgz!zdiUm@0|V}gj^2?CpLJqe5}2SZD;@f>T-mrb`<7*T@3<p1e{18QDym#roG))Xl!e%597UY)L@m7vWnogq$<pZ64`*Ot@x-
(>`8U#;-nDB}wTVV@#qy+{mbIm&17?3|c1Eb`;+b#15|hHrzhoxL^61i7z44b^tTMImLD<-
+os05p(wL>&GH8T!4t%kmw(5`Y;_Scw5Y%t*Q$6n+dIA6d00000fE(SqWorkg)zPIx7`p2B|J@f2Jplj!00000+}P&Vr!vOY`MFw`MJ#WS(m~3`Eh|r~JoPp
ak|*R?Ru*J7pKXp($mX(*5e_<%lpiVS)%suoy;k8#eW->Gd^*S^n?H0om#wI3TrTM?xJ7*KhJjR)DJmiviNImL?|Cfnh%fc73qvjRwvlg3kA-
%id`}5MLvFb?a{}QJ+X^G%x)x(hI?Se#%>#=t;R?@|gjl-
#kYwjX<Z_n=fu(F$*^J1@u^cG{^%x<<7mh80fD!7ut}BQ`g;IhEpYgyJRwRSQ0RLNXi2wiq00000+{_x^|Myf3Jplj!00000z~`jamFno*b$e}Rb0ERBMhnz
OADp?T|C4+y-#M}MjQ!+y4y}7>|Kwj^{Q655k3asUA7A|1$7dh@{mH}AAAI+@)0wB=FGoWMZ##YZfv11b)xGu9-9zUto!pUnG%gRme)*FZUOoQi-qAn&ZrvM
iC(pf7nHqWG(8-10|G#PI2><{900000ZVY5a->%zNT}R&n#{UBV000000Nnf*zW@K5p(g+U000000JwRqS=M)JbA-
U5!}Z_)<NJRA000000Dzkt#{UBV000000Q_I*sjA6BoT%!M6oZfOqG6CJ_C&|LF?eD9V&A~F-
=2H&rypI~yZ_a<_Dy{M`BOTytTleAmfU~WpMHI^KAa%k^&6x6qMiW&00000zztx2eL7=oou8|9S;X=NDIKJ2+_Lh-
%2RI>A$dZMWo4oM6#KATt*S7|=CV;i73-1uf0om$(}hxftvT3S2TJAY3@;WQQ`!8X!?|olRpW9=Z{c{6auu^Y>dMHDeC34P3s~p~%O{FEde>O-
qN<k`d4UveXcNXcrLHYqVk<u)5p@DjIhLXkp@cfF%R@^!o^(8i+9C=f=}IZ1?3|>bAGn^!tRS$MrxXtzR}sQp6}XZx&+|QBSdqgV+hZY@L|TsUBz0&=R6yp}
r~Y$IbFF{k*VZ(?Ep@_npnOjWK|^l2Hgf{u5!(tQ;<^@NOghY_k<9~(FyRW%mV{Wk{E%elMC5Xp>Sj^4t87MO<XDcBf_jV);tR(XLBI(0UDp-
Fp+YIagwJ?j>jsm7zHnBw_6u}gHtCCh|JLP3zd-kSqo<;0000000000ts9IOL?XiB>>d>h70?bLe<1c?+wfkWHkN1A_d~`0n@^azr^TFNkTzP%lu~Q!%+4%9
duiUfo*`J*q{pFWG{P`C*?;GuY_gC_vH(tK&F1mT&7oK`%us?PDgFD}Q>%rHyZ2r+JUpe#CaVL83hYzKyea`>dV+M5-b?8^;V!y!I13!=-
{^Yf1>pwq8_na_#PT&EA00000000306}0{^!PIs1Xr!<E@q_;aA!N6Q
""",
    "prio": r"""
c-rmVPe>F|90%|>yXwk{j#RLg1dkw6SeG;;4;@-{%FS(8*D*B$dAs{uH+OerX4XG+C=G-
T8FWd4ZXPO+9l8WXWQVX0;lc0{2Aw1&`gd%0W;9o=D2Ot?A7<X{{@%Vn^Oill$IL7t#5JfU6<<6`NE_*B4<>a^`xG_Jbb5r86NiHwr<4%lF!n<7O@Y0y5y;O
uh%Y9T<_ebHBI3=mrLt?r3jhEB0002UH>MQ0Je8Hg<$9e(Q#{J_SU=b7Lt#@y^2-vH{f$A1+Cf_7riM&59px$wgk<TY6rpXAz-fP^hqg*RUK&d&8jr8%g~Bo
obq0f8+Q)NMY?q_*K}FTItvP06DnHL-`nCm)`eFlGHccCY;l>SdmPn{P!HkJ#UWU86-
C2}7;S0%3oR18%q@K(q?A8nH^9_WWrEY5H(Qs(JcU78h)L2csTBL|X%{TNItsAR%n1eX(HwV%Fw0&^q4dQxD)*vdGnBBp=0gNXTT+=t7lGWbUAuzv~wYZlKv
eA^n;$~?tO><3S39Ave(er@Z67G~~B-
|Bfjtef2$0Lj#GP}*9N>(=$M_!lB5Ut9vG^euEE$4T2h^4Z2e62^DT5;zl>Ea?07sU_w!2tjO00000>^K!pPmMC1;cAMrI9I9CM;X<bHc;ZM6o<H~C6!EVZv
HQbGsM^c00000007|clU?3mF*&h0EbMtR+tYP7)-
!VU?aG6>>4STFt0wP%etxfWe*Z+Id!S$M=Tz%wD$lI|SeH1^!<Jf~HUD2G#s&ZY000000RMsA&SLN8#e-
6F{{NI18vp<R00000{L>mpF)20#y}wbo#C{xL%`i(5LfejBEE*>@OBIBaoB0oYp?y<NJ|0-
9uYLJ!*9*}IIXA|8TNkFUzDvzpj}kaT#2F(200000004kr@SUsv9iN2R1fQ64lLr6jrIlArtJiPLe|g=Jom;&!*zx}M<PWa;uk-
zpTM3Bu_W*@!>jLLO6_4&bJ|$S|0t-Z3HWB~;000000N7Esxt+kV-7N-R0Suu{lm
""",
}
