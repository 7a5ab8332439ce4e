import peersim.config.Configuration;
import peersim.core.*;

public class PushSumPeak implements Control {
    private final int pid;
    private final double peak;

    public PushSumPeak(String prefix) {
        pid = Configuration.getPid(prefix + ".protocol");
        peak = Configuration.getDouble(prefix + ".peak");
    }

    public boolean execute() {
        ((PushSum) Network.get(0).getProtocol(pid)).sum = peak;
        return false;
    }
}
