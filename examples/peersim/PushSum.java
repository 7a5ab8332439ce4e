import peersim.cdsim.CDProtocol;
import peersim.config.FastConfig;
import peersim.core.*;

public class PushSum implements CDProtocol {
    double sum, weight = 1.0;

    public PushSum(String prefix) { }

    public Object clone() {
        try { return super.clone(); } catch (CloneNotSupportedException e) { throw new AssertionError(e); }
    }

    public void nextCycle(Node node, int pid) {
        Linkable known = (Linkable) node.getProtocol(FastConfig.getLinkable(pid));
        if (known.degree() == 0) return;
        Node other = known.getNeighbor(CommonState.r.nextInt(known.degree()));
        sum /= 2; weight /= 2;
        if (!other.isUp()) return;                  // lost, and nobody counts it
        PushSum target = (PushSum) other.getProtocol(pid);
        target.sum += sum; target.weight += weight;
    }
}
