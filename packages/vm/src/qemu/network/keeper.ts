import type { Log } from '@lodge/ports';
import type { HostNetwork } from './host-network.ts';

/** Time between two looks; a firewall that another program flushed is back within twice as much. */
const everyMs = 5000;

/** Looks after the host's side of the network for as long as it is started. */
export class NetworkKeeper {
  private readonly network: HostNetwork;
  private readonly log: Log;
  private timer: NodeJS.Timeout | null = null;
  /** The last reported trouble, which is reported only once. */
  private trouble = '';

  constructor(network: HostNetwork, log: Log) {
    this.network = network;
    this.log = log;
  }

  start(): void {
    this.stop();
    const timer = setTimeout(() => void this.look(timer), everyMs);
    this.timer = timer.unref();
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private async look(timer: NodeJS.Timeout): Promise<void> {
    try {
      if (await this.network.heal()) this.log.warn({}, 'network: what another program took away is back');
      this.trouble = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.trouble)
        this.log.error({ err: error }, 'network: the host’s side is damaged and could not be restored');
      this.trouble = message;
    }
    // It was stopped, or started again, meanwhile.
    if (this.timer === timer) this.start();
  }
}
