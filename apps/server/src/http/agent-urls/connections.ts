/**
 * Requests under way at agents' addresses, in this process. Whoever has a right to an agent and anyone at its public ports are
 * bounded apart: strangers who keep connections open do not keep the owner out, nor those of one port those of another.
 */
import { Refusal } from '@lodge/domain';

/** With a key or a visit, of one agent. */
const maxWithRight = 256;
/** At one public port, and there from one network. */
const maxOfPort = 128;
const maxOfNetwork = 64;

/** Whose request it is. */
interface Connection {
  readonly agentId: string;
  /** The public port that anyone reaches, and the client's network; null for whoever has a right. */
  readonly anyone: { readonly port: number; readonly network: string } | null;
}

export class Connections {
  private readonly underWay = new Map<string, number>();

  /** Takes a place; gives what to call when it is free again. Refuses with 503. */
  enter(connection: Connection): () => void {
    const places = placesOf(connection);
    for (const { name, max } of places) {
      if ((this.underWay.get(name) ?? 0) >= max) {
        throw new Refusal('agent_unavailable', 'Too many requests to this agent at once.');
      }
    }
    for (const { name } of places) this.add(name, 1);
    return () => {
      for (const { name } of places.splice(0)) this.add(name, -1);
    };
  }

  private add(name: string, change: 1 | -1): void {
    const count = (this.underWay.get(name) ?? 0) + change;
    if (count === 0) this.underWay.delete(name);
    else this.underWay.set(name, count);
  }
}

function placesOf({ agentId, anyone }: Connection): { readonly name: string; readonly max: number }[] {
  if (anyone === null) return [{ name: agentId, max: maxWithRight }];
  const port = `${agentId}:${anyone.port}`;
  return [
    { name: port, max: maxOfPort },
    { name: `${port} ${anyone.network}`, max: maxOfNetwork },
  ];
}
