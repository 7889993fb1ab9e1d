/**
 * Running requests at agents' addresses, in this process. Callers with a right to an agent and anyone at its public ports
 * have separate bounds: strangers who keep connections open lock out neither the owner nor the users of another port.
 */
import { Places, Refusal, Shares } from '@lodge/domain';

/** Bound for one agent, with a key or a visit. */
const withRight = { perName: 256 };
/** A network stands where the shares have an agent, and a public port for the account. */
const ofAnyone = { perAgent: 64, perAccount: 128, inAll: Infinity, few: 128 };

/** The owner of a request. */
interface Connection {
  readonly agentId: string;
  /** The public port that anyone reaches, and the client's network; null for a caller with a right. */
  readonly anyone: { readonly port: number; readonly network: string } | null;
}

export class Connections {
  private readonly withRight = new Places(withRight);
  private readonly ofAnyone = new Shares(ofAnyone);

  /** Takes a place; returns a function that frees it, to be called once. Refuses with 503. */
  enter({ agentId, anyone }: Connection): () => void {
    const port = `${agentId}:${anyone?.port}`;
    const holder = { agentId: `${port} ${anyone?.network}`, accountId: port };
    if (!(anyone === null ? this.withRight.take(agentId) : this.ofAnyone.take(holder, 1))) {
      throw new Refusal('agent_unavailable', 'Too many requests to this agent at once.');
    }
    return () => (anyone === null ? this.withRight.giveBack(agentId) : this.ofAnyone.giveBack(holder, 1));
  }
}
