/** The provider's answer on its way to the guest. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { badProvider } from './call-error.ts';
import type { Deadline } from './deadline.ts';
import { EventCutter } from '../wires/events.ts';
import type { EventBlock } from '../wires/events.ts';
import type { BrokerLimits } from './call-limits.ts';
import type { TokenMeter } from '../metering/token-meter.ts';
import type { Recording } from '../metering/recording.ts';
import { redactMasked } from '../metering/redact.ts';
import type { Redact } from '../metering/redact.ts';
import { isHeavy, readAnswer } from '../metering/answer.ts';
import type { AnswerKind, AnswerRead } from '../metering/answer.ts';
import type { AnswerReader } from '../metering/answer-reader.ts';
import { scanJson } from '../json/scanner.ts';
import type { Wire } from '../wires/wire.ts';

export interface ReplyContext {
  readonly wire: Wire;
  readonly providerId: string;
  readonly hideUsage: boolean;
  readonly redact: Redact;
  /** The secrets that `redact` removes, for another thread. */
  readonly secrets: readonly string[];
  readonly agentId: string;
  readonly reader: AnswerReader;
  readonly deadline: Deadline;
  readonly meter: TokenMeter;
  /** Null: nothing that is said is kept. */
  readonly recording: Recording | null;
  readonly limits: BrokerLimits;
  /** Called as the answer's body begins. */
  readonly firstByte: () => void;
  /** Awaited before the last bytes go to the guest. `failed`: the provider said in its reply that it failed, whatever the status. */
  readonly beforeEnd: (failed: boolean) => Promise<void>;
}

/** Response headers a guest may see. */
const passedHeader =
  /^(content-type|retry-after|retry-after-ms|x-should-retry|request-id|x-request-id|(x|anthropic)-ratelimit-.*|openai-processing-ms)$/;
/** A provider's error is passed on when it is JSON and no longer than this. */
const maxErrorBytes = 64 * 1024;

/** Passes a provider's response on to the guest, reading usage as it goes by. */
export class Reply {
  readonly #response: Dispatcher.ResponseData;
  readonly #res: ServerResponse;
  readonly #context: ReplyContext;
  /** Events that may be the last of the stream: they go out when its end is recorded, or when there are more. */
  #tail: Uint8Array[] = [];

  constructor(response: Dispatcher.ResponseData, res: ServerResponse, context: ReplyContext) {
    this.#response = response;
    this.#res = res;
    this.#context = context;
  }

  /** Resolves when all is handed to the guest's connection; rejects when the provider or the guest stops before. */
  async pass(): Promise<void> {
    const { statusCode, headers } = this.#response;
    const { providerId } = this.#context;
    const encoding = headers['content-encoding'] ?? 'identity';
    if (statusCode >= 300 && statusCode < 400) {
      throw badProvider(`Provider ${providerId} answered with a redirect, which is not followed.`, 'provider_error');
    }
    if (encoding !== 'identity') {
      throw badProvider(`Provider ${providerId} answered in an encoding nobody asked for.`, 'provider_error');
    }
    if (statusCode >= 400) return this.#passError();
    if (/^text\/event-stream\b/i.test(String(headers['content-type'] ?? ''))) return this.#passStream();
    return this.#passJson();
  }

  async #passError(): Promise<void> {
    const { statusCode } = this.#response;
    const { providerId, redact, recording } = this.#context;
    const text = (await this.#readAll(maxErrorBytes).catch(() => null))?.toString('utf8') ?? '';
    this.#context.deadline.signal.throwIfAborted();
    const clean = redactMasked(redact(text));
    const bytes = Buffer.from(clean);
    recording?.answer(bytes);
    if (!isSmallObject(text)) {
      const message = `Provider ${providerId} answered with status ${statusCode}.`;
      const error = badProvider(message, 'provider_error');
      await this.#passBody(statusCode, Buffer.from(JSON.stringify(this.#context.wire.error(error))), true);
    } else {
      await this.#passBody(statusCode, bytes, true);
    }
  }

  async #passJson(): Promise<void> {
    const { providerId, limits, meter, recording } = this.#context;
    const bytes = await this.#readAll(limits.replyBytes, (size) => meter.readPart(size));
    if (!bytes) throw badProvider(`Provider ${providerId} answered with too large a reply.`, 'provider_error');
    const { clean, isReadable } = await this.#read('reply', bytes);
    recording?.answer(clean);
    if (!isReadable) {
      throw badProvider(`Provider ${providerId} answered with something that is not JSON.`, 'provider_error');
    }
    await this.#passBody(this.#response.statusCode, clean, meter.isFailed);
  }

  /** At once where it is small: a promise for each event of a stream would cost more than the event. */
  #read(kind: AnswerKind, bytes: Buffer): AnswerRead | Promise<AnswerRead> {
    const { wire, meter, redact } = this.#context;
    return isHeavy(bytes) ? this.#readBeside(kind, bytes) : readAnswer(kind, bytes, wire, meter, redact);
  }

  async #readBeside(kind: AnswerKind, bytes: Buffer): Promise<AnswerRead> {
    const { wire, meter, secrets, agentId, reader, deadline } = this.#context;
    const size = bytes.length;
    try {
      const result = await reader.read(agentId, { kind, bytes, api: wire.api, secrets, meter: meter.state });
      meter.state = result.meter;
      return result;
    } catch (error) {
      meter.readPart(size);
      throw error;
    } finally {
      deadline.signal.throwIfAborted();
    }
  }

  async #passBody(status: number, body: Uint8Array, failed: boolean): Promise<void> {
    await this.#context.beforeEnd(failed);
    this.#head(status, { 'content-type': 'application/json', 'content-length': String(body.length) });
    await this.#end(body);
  }

  /** Waits until the guest has taken what is written: a guest that reads nothing holds its slot, not our memory. */
  async #end(last?: Uint8Array): Promise<void> {
    const { deadline, limits } = this.#context;
    this.#res.end(last);
    if (this.#res.writableFinished) return;
    deadline.expect('guest stalled', limits.idleMs);
    await once(this.#res, 'finish', { signal: deadline.signal });
  }

  async #passStream(): Promise<void> {
    this.#head(this.#response.statusCode, {});
    this.#res.flushHeaders();
    const cutter = new EventCutter();
    // Written in one tick, they go out with one system call; corked (`res.cork`), each would take several.
    await this.#pump((chunk) => this.#passEvents(cutter.push(chunk)));
    const rest = cutter.rest();
    if (rest) await this.#passEvents([rest]);
    await this.#context.beforeEnd(this.#context.meter.isFailed);
    this.#writeTail();
    await this.#end();
  }

  /**
   * Hands each chunk on as it comes, no faster than the guest reads. Resolves at the end of the provider's body, and also
   * where what follows the last event is silence or a broken connection: it is over then.
   */
  #pump(take: (chunk: Buffer) => Promise<void> | null): Promise<void> {
    const { body } = this.#response;
    const { deadline, limits, firstByte } = this.#context;
    const over = Promise.withResolvers<void>();
    const reject = (error: unknown): void => over.reject(error);
    let hangUp: NodeJS.Timeout | undefined;
    let isTaking = false;
    const resume = (): void => {
      if (isTaking) return;
      deadline.expect('idle', limits.idleMs);
      body.resume();
    };
    const fail = (error: unknown): void => {
      if (this.#tail.length > 0 && !deadline.signal.aborted) over.resolve();
      else over.reject(error instanceof Error ? error : new Error('the body broke off'));
    };
    body.on('end', over.resolve).on('error', fail).on('close', fail);
    this.#res.on('drain', resume);
    deadline.expect('idle', limits.idleMs);
    const taken = (): void => {
      clearTimeout(hangUp);
      hangUp = this.#tail.length > 0 ? setTimeout(() => body.destroy(), limits.lastWordMs) : undefined;
      if (!this.#res.writableNeedDrain) return deadline.expect('idle', limits.idleMs);
      body.pause();
      deadline.expect('guest stalled', limits.idleMs);
    };
    const takeSlowly = (later: Promise<void>): void => {
      isTaking = true;
      body.pause();
      const goOn = (): void => {
        isTaking = false;
        taken();
        if (!this.#res.writableNeedDrain) resume();
      };
      later.then(goOn).catch(reject);
    };
    body.on('data', (chunk: Buffer) => {
      firstByte();
      try {
        const later = take(chunk);
        if (later) takeSlowly(later);
        else taken();
      } catch (error) {
        reject(error);
      }
    });
    return over.promise.finally(() => {
      clearTimeout(hangUp);
      this.#res.off('drain', resume);
    });
  }

  /** Null when all is passed; else a promise, while one of them is read beside the event loop and the others wait. */
  #passEvents(blocks: readonly EventBlock[], from = 0): Promise<void> | null {
    for (let index = from; index < blocks.length; index++) {
      const read = this.#read('event', blocks[index]!.bytes);
      if (read instanceof Promise) {
        return read.then((event) => {
          this.#passEvent(event);
          return this.#passEvents(blocks, index + 1) ?? undefined;
        });
      }
      this.#passEvent(read);
    }
    return null;
  }

  #passEvent({ clean, isLast, isUsageOnly }: AnswerRead): void {
    this.#context.recording?.answer(clean);
    if (isUsageOnly && this.#context.hideUsage) return;
    // The guest may have left while the event was read.
    if (this.#res.destroyed) return;
    if (!isLast) this.#writeTail();
    if (isLast) this.#tail.push(clean);
    else this.#res.write(clean);
  }

  #writeTail(): void {
    for (const bytes of this.#tail) this.#res.write(bytes);
    this.#tail = [];
  }

  #head(status: number, own: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(this.#response.headers)) {
      if (!passedHeader.test(name) || value === undefined) continue;
      this.#res.setHeader(name, this.#context.redact(String(value)));
    }
    this.#res.writeHead(status, own);
  }

  /** Null when there is more than `maxBytes`. `broken` receives the number of bytes that had come if they are not all. */
  async #readAll(maxBytes: number, broken = (_size: number): void => {}): Promise<Buffer | null> {
    const parts: Buffer[] = [];
    let size = 0;
    let whole = false;
    try {
      for await (const chunk of this.#chunks()) {
        size += chunk.length;
        if (size > maxBytes) return null;
        parts.push(chunk);
      }
      whole = true;
      return Buffer.concat(parts);
    } finally {
      if (!whole) broken(size);
    }
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    const { deadline, limits, firstByte } = this.#context;
    deadline.expect('idle', limits.idleMs);
    for await (const chunk of this.#response.body as AsyncIterable<Buffer>) {
      deadline.expect('idle', limits.idleMs);
      firstByte();
      yield chunk;
    }
  }
}

const errorBounds = { depth: 64, values: 5000 };

/** Whether a text is a JSON object, and none that it takes long to read. */
function isSmallObject(text: string): boolean {
  try {
    scanJson(Buffer.from(text), errorBounds);
    return true;
  } catch {
    return false;
  }
}
