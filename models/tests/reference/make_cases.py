"""Writes cases.json:  pip install numpy && python3 make_cases.py   (about a minute)."""
import json, warnings, sys
warnings.simplefilter("ignore")
from reference import *
def rt(name,r,M=32,v=None,d=()): return dict(name=name,kind="real-time",rate=r,message_flits=M,vtick=v,deadlines=list(d))
def be(r,M=32): return dict(name="BE",kind="best-effort",rate=r,message_flits=M,vtick=None,deadlines=[])
def router(cl,b=32,P=5): return dict(topology="router",dimension=None,pipeline_stages=P,buffer_flits=b,classes=cl)
def cube(n,cl,b=32,P=5): return dict(topology="hypercube",dimension=n,pipeline_stages=P,buffer_flits=b,classes=cl)
D=[42,47,60,80]
DC=[60,80,{"hops":2,"deadlines":[55,60]},{"hops":5,"deadlines":[70,75]}]
def two(r,d,M=32): return [rt("R1",r,M,d=d),rt("R2",r/2,M,d=d)]
S=[]
def add(n,sc): S.append((n,sc))
for r in (.001,.002,.005,.008,.011,.013,.015,.018,.02,.03): add("router base r=%g"%r, router(two(r,D)+[be(.01)]))
for b in (4,16,64): add("router b=%d r=.005"%b, router(two(.005,D)+[be(.01)],b=b))
add("router b=64 r=.011",router(two(.011,D)+[be(.01)],b=64))
add("router b=32, M=8 everywhere",router([rt("R1",.02,8,d=[12,13,20,31.5,60]),rt("R2",.01,8,d=[12,20,40]),be(.02,8)]))
add("router unequal 16,64,32",router([rt("R1",.008,16,d=[20,25,40,80]),rt("R2",.003,64,d=[68,80,120,300]),be(.008,32)]))
add("router unequal 64,16,8 b=20",router([rt("R1",.004,64,d=[70,90,150]),rt("R2",.006,16,d=[20,25,60]),be(.01,8)],b=20))
add("router given vticks 4,9",router([rt("R1",.006,v=4.0,d=D),rt("R2",.004,v=9.0,d=D),be(.01)]))
add("router given vticks 1,60 (skewed)",router([rt("R1",.005,v=1.0,d=D),rt("R2",.004,v=60.0,d=D),be(.005)]))
add("router only real-time",router(two(.008,D)))
add("router only best-effort",router([be(.012)]))
add("router one real-time + BE",router([rt("R1",.01,d=D),be(.008)]))
add("router 3 RT r=.005",router([rt("R1",.005,d=D),rt("R2",.005/1.5,d=D),rt("R3",.0025,d=D),be(.005)]))
add("router 3 RT r=.009",router([rt("R1",.009,d=D),rt("R2",.009/1.5,d=D),rt("R3",.0045,d=D),be(.005)]))
add("router 3 RT ugly",router([rt("R1",.0043217,d=D),rt("R2",.0031415926,d=D),rt("R3",.00271828,d=D),be(.00577)]))
add("router 4 RT means",router([rt("R%d"%(i+1),x) for i,x in enumerate((.004,.003,.0021,.0013))]+[be(.004)]))
add("router 6 RT means",router([rt("R%d"%(i+1),x,M) for i,(x,M) in enumerate(((.002,32),(.0017,16),(.0011,48),(.0009,32),(.0031,8),(.0005,64)))]+[be(.004)]))
add("router 4 RT tiny M=3 b=2 with DMP",router([rt("R%d"%(i+1),x,3,d=[7,8,10,14.5]) for i,x in enumerate((.04,.03,.021,.0137))]+[be(.03,3)],b=2))
add("router P=3",router(two(.008,[34,40,47,60])+[be(.006)],P=3))
add("router P=7",router(two(.008,[38,44,47,60])+[be(.006)],P=7))
for n in (5,6,7):
    for r in (.002,.004,.006,.008,.010): add("%d-cube r=%g"%(n,r),cube(n,two(r,DC)+[be(.002)]))
add("6-cube BE 64 r=.006",cube(6,two(.006,DC)+[be(.002,64)]))
add("6-cube BE 64 r=.009",cube(6,two(.009,DC)+[be(.002,64)]))
for b in (4,16,64): add("6-cube b=%d r=.008"%b,cube(6,two(.008,DC)+[be(.002)],b=b))
add("6-cube unequal 16,48,24 b=20 P=4",cube(6,[rt("R1",.01,16,d=DC),rt("R2",.003,48,d=DC+[110]),be(.003,24)],b=20,P=4))
add("6-cube 3 RT r=.005",cube(6,[rt("R1",.005,d=DC),rt("R2",.005/1.5,d=DC),rt("R3",.0025,d=DC),be(.002)]))
add("4-cube 3 RT ugly M=12 b=16",cube(4,[rt("R1",.0143217,12,d=[30,40,{"hops":2,"deadlines":[30,33.5]}]),rt("R2",.0091415926,12,d=[40]),rt("R3",.00671828,12,d=[40]),be(.00577,12)],b=16))
add("6-cube only RT r=.008",cube(6,two(.008,DC)))
add("6-cube only BE",cube(6,[be(.008)]))
add("6-cube one RT + BE",cube(6,[rt("R1",.009,d=DC),be(.003)]))
add("1-cube r=.006",cube(1,two(.006,[42,50,{"hops":1,"deadlines":[45,60]}])+[be(.002)]))
add("2-cube r=.008",cube(2,two(.008,[50,60,{"hops":2,"deadlines":[55,60]}])+[be(.002)]))
add("3-cube r=.008",cube(3,two(.008,[50,60,{"hops":3,"deadlines":[55,70]}])+[be(.002)]))
add("12-cube r=.006 means",cube(12,two(.006,[])+[be(.002)]))
add("12-cube r=.010 means",cube(12,two(.010,[])+[be(.002)]))
add("5-cube P=3 r=.006",cube(5,two(.006,[60,{"hops":2,"deadlines":[42,55]}])+[be(.002)],P=3))
add("5-cube P=7 r=.006",cube(5,two(.006,[80,{"hops":2,"deadlines":[55,60]}])+[be(.002)],P=7))
# saturated
for r in (.012,.014,.020,.030): add("6-cube saturated r=%g"%r,cube(6,two(r,DC)+[be(.002)]))
add("2-cube saturated r=.03",cube(2,two(.03,[60])+[be(.002)]))
add("1-cube saturated r=.05",cube(1,two(.05,[60])+[be(.002)]))
add("12-cube saturated r=.012",cube(12,two(.012,[])+[be(.002)]))
add("router saturated BE only .05",router([be(.05)]))
add("router saturated r=.05",router(two(.05,D)+[be(.01)]))
add("router saturated 1 RT .06",router([rt("R1",.06,d=D),be(.004)]))
add("router b=128 M=8 load .5, two fixed points",router([rt("R1",.04125,8,d=[12,20,40]),rt("R2",.020625,8,d=[12,20,40])],b=128))

def short(answer_class, spec):
    """What the tests compare, channel by channel in [L, P_b, S, Bmid] and deadline by deadline in [hops, cycles, p]."""
    dmp=[]
    for deadline,p in zip(spec["deadlines"],answer_class.get("dmp") or []):
        if isinstance(deadline,dict):
            dmp+=[[deadline["hops"],d,q] for d,q in zip(deadline["deadlines"],p["dmp"])]
        else: dmp.append([None,deadline,p])
    return dict(L=answer_class["network_latency"],W=answer_class["waiting"],S=answer_class["S"],P_b=answer_class.get("P_b"),
                saturated=answer_class["saturated"],dmp=dmp,
                channels=[[c["L"],c["P_b"],c["S"],c.get("Bmid")] for c in answer_class.get("channels",[])])
if __name__=="__main__":
    rows=[]
    for name,sc in S:
        for c in sc["classes"]:
            c["deadlines"]=[d for d in ([dict(hops=d["hops"],deadlines=[x for x in d["deadlines"] if x==int(x)]) if isinstance(d,dict) else d
                            for d in c["deadlines"]]) if isinstance(d,dict) or d==int(d)]
        a=solve(sc)
        rows.append(json.dumps(dict(name=name,scenario=sc,status=a["status"],classes=[short(c,s) for c,s in zip(a["classes"],sc["classes"])])))
        print(name,a["status"],a["iterations"],file=sys.stderr)
    open("cases.json","w").write("[\n"+",\n".join(rows)+"\n]\n")
