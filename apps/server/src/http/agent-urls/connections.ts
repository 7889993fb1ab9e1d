/**
 * Requests under way at agents' addresses, in this process. Whoever has a right to an agent and anyone at its public ports are
 * bounded apart: strangers who keep connections open do not keep the owner out, nor those of one port those of another.
 */
import { Places, Refusal, Shares } from '@lodge/domain';

/** Of one agent, with a key or a visit. */
const withRight = { perName: 256 };
/** A network stands where the shares have an agent, and a public port for the account. */
const ofAnyone = { perAgent: 64, perAccount: 128, inAll: Infinity, few: 128 };

/** Whose request it is. */
interface Connection {
  readonly agentId: string;
  /** The public port that anyone reaches, and the client's network; null for whoever has a right. */
  readonly anyone: { readonly port: number; readonly network: string } | null;
}

export class Connections {
  private readonly withRight = new Places(withRight);
  private readonly ofAnyone = new Shares(ofAnyone);

  /** Takes a place; gives what to call, once, when it is free again. Refuses with 503. */
  enter({ agentId, anyone }: Connection): () => void {
    const port = `${agentId}:${anyone?.port}`;
    const holder = { agentId: `${port} ${anyone?.network}`, accountId: port };
    if (!(anyone === null ? this.withRight.take(agentId) : this.ofAnyone.take(holder, 1))) {
      throw new Refusal('agent_unavailable', 'Too many requests to this agent at once.');
    }
    return () => (anyone === null ? this.withRight.giveBack(agentId) : this.ofAnyone.giveBack(holder, 1));
  }
}
