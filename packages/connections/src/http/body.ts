import type { IncomingMessage } from 'node:http';
import type { CallBounds } from '../bounds.ts';
import { Refused } from './refused.ts';

/** Bytes of requests that wait to be sent. */
export class HeldBytes {
  readonly #bounds: Pick<CallBounds, 'requestBytes' | 'heldBytesPerAgent' | 'heldBytes'>;
  readonly #ofAgents = new Map<string, number>();
  #all = 0;

  constructor(bounds: Pick<CallBounds, 'requestBytes' | 'heldBytesPerAgent' | 'heldBytes'>) {
    this.#bounds = bounds;
  }

  /** The whole body; `free` gives its place back. Rejects with a `Refused` beyond the bounds, or as the request breaks off. */
  async read(agentId: string, req: IncomingMessage): Promise<{ readonly body: Buffer; readonly free: () => void }> {
    const { requestBytes } = this.#bounds;
    const tooLarge = new Refused(413, 'request_too_large', `A request may have at most ${requestBytes} bytes.`);
    if (Number(req.headers['content-length'] ?? 0) > requestBytes) throw tooLarge;
    const chunks: Buffer[] = [];
    let taken = 0;
    const free = (): void => {
      this.#take(agentId, -taken);
      taken = 0;
    };
    try {
      // A refusal is still to be told on the same socket.
      for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if (taken + chunk.length > requestBytes) throw tooLarge;
        if (!this.#take(agentId, chunk.length)) {
          throw new Refused(429, 'rate_limit_exceeded', 'Too many bytes are under way. Try again shortly.', 1);
        }
        taken += chunk.length;
        chunks.push(chunk);
      }
      return { body: Buffer.concat(chunks), free };
    } catch (error) {
      free();
      throw error;
    }
  }

  #take(agentId: string, bytes: number): boolean {
    const own = (this.#ofAgents.get(agentId) ?? 0) + bytes;
    const { heldBytes, heldBytesPerAgent } = this.#bounds;
    if (bytes > 0 && (own > heldBytesPerAgent || this.#all + bytes > heldBytes)) return false;
    this.#all += bytes;
    if (own === 0) this.#ofAgents.delete(agentId);
    else this.#ofAgents.set(agentId, own);
    return true;
  }
}
