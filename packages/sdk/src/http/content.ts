import { LodgeError } from '../errors.ts';
import type { CallOptions } from '../options.ts';
import { chunksOf, streamOf } from './body.ts';
import { backoff, isPassing, pause } from './retry.ts';
import type { Call, Opened, Transport } from './transport.ts';

/** With the tries of each request: about a minute without the server. */
const maxCuts = 12;

/**
 * A file that was opened. It is read once. A cut connection is opened again where the bytes ended, as long as the file is the
 * same version. Call `cancel` to read none of it.
 */
export class FileContent implements AsyncIterable<Uint8Array<ArrayBuffer>> {
  /** Bytes of the whole file. */
  readonly size: number;
  /** Names this version of the file. */
  readonly etag: string;
  /** Its content type, by its name. */
  readonly type: string;
  readonly #http: Transport;
  readonly #call: Call;
  readonly #options: CallOptions;
  #opened: Opened | null;
  #at: number;

  private constructor(http: Transport, call: Call, options: CallOptions, opened: Opened, from: number) {
    const { headers, status } = opened.reply;
    const ofRange = /\/(\d{1,15})$/.exec(headers.get('content-range') ?? '')?.[1];
    this.size = Number(status === 206 ? ofRange : headers.get('content-length'));
    this.etag = headers.get('etag') ?? '';
    this.type = headers.get('content-type') ?? '';
    this.#http = http;
    this.#call = call;
    this.#options = options;
    this.#opened = opened;
    this.#at = status === 206 ? from : 0;
  }

  static async open(http: Transport, call: Call, options: CallOptions, from: number): Promise<FileContent> {
    const opened = await http.open(from > 0 ? withRange(call, from) : call, options);
    return new FileContent(http, call, options, opened, from);
  }

  /** The bytes from here on, as they come. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    let opened: Opened | null = this.#take();
    for (let cuts = 0; ; cuts += 1) {
      try {
        const { reply, attempt }: Opened = opened ?? (await this.#reopen());
        for await (const chunk of chunksOf(reply, attempt)) {
          this.#at += chunk.length;
          cuts = 0;
          if (this.#at > this.size) throw new RangeError('The server sent more of the file than it has.');
          yield chunk;
        }
        if (!(this.#at < this.size)) return;
      } catch (error) {
        if (!isPassing(error) || cuts >= maxCuts) throw error;
      }
      opened = null;
      await pause(backoff(cuts, 250, 5_000), this.#options.signal);
    }
  }

  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return streamOf(this[Symbol.asyncIterator]());
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for await (const chunk of this) chunks.push(chunk);
    return new Uint8Array(await new Blob(chunks).arrayBuffer());
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  async json<T = unknown>(): Promise<T> {
    return JSON.parse(await this.text()) as T;
  }

  /** Closes the connection unread. */
  cancel(): void {
    this.#opened?.attempt.end(true);
    this.#opened = null;
  }

  async #reopen(): Promise<Opened> {
    const call = withRange({ ...this.#call, headers: { ...this.#call.headers, 'if-match': this.etag } }, this.#at);
    const opened = await this.#http.open(call, this.#options);
    if (opened.reply.status === 206) return opened;
    opened.attempt.end(true);
    throw new LodgeError('The file broke off, and the server does not go on where it was.');
  }

  #take(): Opened {
    const opened = this.#opened;
    if (opened === null) throw new TypeError('The file was read already: open it again.');
    this.#opened = null;
    return opened;
  }
}

const withRange = (call: Call, from: number): Call => ({
  ...call,
  headers: { ...call.headers, range: `bytes=${from}-` },
});
