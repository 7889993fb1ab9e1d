/**
 * Passes an answer on to the guest. No part is passed on before the search for the connection's credential has passed it. An
 * answer that contains one is refused whole, and no further piece of a long one is passed on. Pieces end by length or by
 * lines only, so their ends reveal nothing about how much of a credential they contain.
 */
import { once } from 'node:events';
import type { HeldShare } from '@lodge/domain';
import type { OutboundResponse } from '@lodge/egress';
import type { ConnectionRow } from '@lodge/ports';
import { EchoSearch } from '../secret/echo-search.ts';
import { tooMuchHeld } from './body.ts';
import type { Deadline } from './deadline.ts';
import { comesInLines, isUnpacked, responseHeaders } from './headers.ts';
import { Refused } from './refused.ts';
import type { Passing, Way } from './way.ts';

export interface Passed {
  readonly status: number;
  readonly bytes: number;
  /** The reason why the answer was cut; null when it is whole. */
  readonly cut: string | null;
}

const echo =
  "The server's answer held the credential of this connection, so the answer was refused. The owner of the connection is told.";

/** Thrown when the answer contains the connection's credential. */
class Echoed extends Refused {
  constructor() {
    super(502, 'credential_echoed', echo);
  }
}

/** Passes an answer on. Rejects with a `Refused` while nothing was passed on. */
export async function pass(
  way: Way,
  forwarding: Passing,
  answer: OutboundResponse,
  deadline: Deadline,
  kept: Readonly<Record<string, string>> = {},
): Promise<Passed> {
  const { statusCode: status, headers, body } = answer;
  const { res, row } = forwarding;
  body.on('error', () => undefined);
  const passage = new Passage(way, forwarding, answer, deadline);
  try {
    if (status < 200 || status > 599 || !isUnpacked(headers['content-encoding'])) {
      const message = 'The answer is packed in a way that was not asked for, or has no known status.';
      throw new Refused(502, 'upstream_answer_refused', message);
    }
    deadline.within(way.bounds.idleMs);
    await passage.pass(kept);
    return { status, bytes: passage.bytes, cut: null };
  } catch (error) {
    if (error instanceof Echoed) await way.echoed(row);
    const isOver = !deadline.signal.aborted && error instanceof Refused;
    if (isOver && !res.headersSent) throw error;
    const broken = deadline.signal.aborted ? deadline.why : 'the server broke off';
    // The guest sees an interrupted answer, and not one that seems whole.
    res.destroy();
    return { status, bytes: passage.bytes, cut: isOver ? error.message : broken };
  } finally {
    body.destroy();
    passage.free();
  }
}

class Passage {
  readonly #way: Way;
  readonly #forwarding: Passing;
  readonly #answer: OutboundResponse;
  readonly #deadline: Deadline;
  readonly #held: HeldShare;
  readonly #row: ConnectionRow;
  /** Bytes that came and were not passed on yet. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  bytes = 0;

  constructor(way: Way, forwarding: Passing, answer: OutboundResponse, deadline: Deadline) {
    this.#way = way;
    this.#forwarding = forwarding;
    this.#answer = answer;
    this.#deadline = deadline;
    this.#held = way.budget.held.heldBy(forwarding.row);
    this.#row = forwarding.row;
  }

  /** `kept` are headers beside those of every answer. */
  async pass(kept: Readonly<Record<string, string>>): Promise<void> {
    const { method, res } = this.#forwarding;
    const headers = { ...responseHeaders(this.#answer.headers), ...kept };
    await this.#checkHead(headers);
    const inLines = comesInLines(headers['content-type']);
    if (inLines) this.#head(headers);
    if (method !== 'HEAD') await this.#passBody(headers, inLines);
    this.#head(headers);
    res.end();
  }

  free(): void {
    this.#held.giveBack();
    this.#waiting = [];
  }

  async #checkHead(headers: Readonly<Record<string, string | string[]>>): Promise<void> {
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      [value].flat().map((each) => `${name}: ${each}\n`),
    );
    const search = new EchoSearch(this.#forwarding.credentials.sought);
    await search.pushInSteps(this.#row.agentId, Buffer.from(lines.join(''), 'latin1'));
    if (search.end()) throw new Echoed();
  }

  async #passBody(headers: Readonly<Record<string, string | string[]>>, inLines: boolean): Promise<void> {
    const { bounds, budget } = this.#way;
    const { sought } = this.#forwarding.credentials;
    const search = new EchoSearch(sought);
    for await (const chunk of this.#answer.body as AsyncIterable<Buffer>) {
      this.#take(chunk);
      await budget.pace(this.#row, chunk.length * sought.weight, this.#deadline.signal);
      if (await search.pushInSteps(this.#row.agentId, chunk)) throw new Echoed();
      const lineEnd = inLines ? Math.max(chunk.lastIndexOf(0x0a), chunk.lastIndexOf(0x0d)) + 1 : 0;
      if (lineEnd > 0) await this.#write(headers, chunk.length - lineEnd);
      while (this.#waitingBytes >= bounds.pieceBytes + sought.formBytes) {
        await this.#write(headers, this.#waitingBytes - bounds.pieceBytes);
      }
      this.#deadline.within(bounds.idleMs);
    }
    if (search.end()) throw new Echoed();
    await this.#write(headers, 0);
  }

  #take(chunk: Buffer): void {
    const { responseBytes } = this.#way.bounds;
    this.bytes += chunk.length;
    if (this.bytes > responseBytes) {
      throw new Refused(502, 'upstream_answer_refused', `The answer has more than ${responseBytes} bytes.`);
    }
    if (!this.#held.take(chunk.length)) throw tooMuchHeld();
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
  }

  /** Writes all but the last `kept` bytes. They count as held until the guest has taken them. */
  async #write(headers: Readonly<Record<string, string | string[]>>, kept: number): Promise<void> {
    const { res } = this.#forwarding;
    const { signal } = this.#deadline;
    const all = Buffer.concat(this.#waiting);
    const passing = all.subarray(0, Math.max(0, all.length - kept));
    this.#waiting = [all.subarray(passing.length)];
    signal.throwIfAborted();
    if (passing.length === 0) return;
    this.#head(headers);
    if (!res.write(passing)) await once(res, 'drain', { signal });
    this.#waitingBytes -= passing.length;
    this.#held.giveBack(passing.length);
  }

  #head(headers: Readonly<Record<string, string | string[]>>): void {
    const { res } = this.#forwarding;
    if (res.headersSent) return;
    try {
      res.writeHead(this.#answer.statusCode, { ...headers });
    } catch {
      throw new Refused(502, 'upstream_answer_refused', 'The answer has headers that cannot be passed on.');
    }
  }
}
