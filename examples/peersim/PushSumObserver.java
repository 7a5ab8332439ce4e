import peersim.config.Configuration;
import peersim.core.*;
import peersim.util.IncrementalStats;

public class PushSumObserver implements Control {
    private final int pid;

    public PushSumObserver(String prefix) { pid = Configuration.getPid(prefix + ".protocol"); }

    public boolean execute() {
        IncrementalStats estimate = new IncrementalStats();
        for (int k = 0; k < Network.size(); k++) {
            PushSum own = (PushSum) Network.get(k).getProtocol(pid);
            if (Network.get(k).isUp()) estimate.add(own.sum / own.weight);
        }
        System.out.println(CommonState.getTime() + " " + estimate.getAverage() + " " + estimate.getStD());
        return false;
    }
}
