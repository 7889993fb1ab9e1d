/**
 * Puts files of answers at the media host, where nobody sees them before a message refers to them: a file that failed here
 * was surely not sent.
 */
import { randomBytes } from 'node:crypto';
import { asObject, untilAborted } from '@lodge/domain';
import { SendFailure } from '@lodge/ports';
import type { OutboundPart } from '@lodge/ports';
import { upTo } from '../../shared/bounded.ts';
import { textOf } from '../../shared/plain.ts';
import { mediaKeysOf } from '../device/library.ts';
import type { MediaKeys, MediaKind, UploadLeave } from '../device/library.ts';
import { digestsOf, seal, sealedBytes } from './cipher.ts';
import type { Digests } from './cipher.ts';
import { isMediaPath, MediaError } from './host.ts';
import type { MediaHost } from './host.ts';

/** The Cloud API's limits, of documents and of pictures. None are published for linked devices, which are known to take more. */
export const maxFileOutBytes = 100 * 1024 * 1024;
const maxImageBytes = 5 * 1024 * 1024;
const maxUrlChars = 2_000;
const busyMs = 60_000;

export type FilePart = Extract<OutboundPart, { kind: 'file' }>;

/** A file that lies at the media host, and what a phone needs to fetch and to read it. */
export interface Uploaded {
  readonly kind: MediaKind;
  readonly key: Uint8Array;
  readonly digests: Digests;
  readonly path: string;
  /** As the media host says it; null where it does not. */
  readonly url: string | null;
}

/** The uploaded content, and its encryption. */
interface Sealing {
  readonly part: FilePart;
  readonly kind: MediaKind;
  readonly keys: MediaKeys;
  readonly digests: Digests;
}

export class Uploads {
  private readonly host: MediaHost;
  private readonly ask: (signal: AbortSignal) => Promise<UploadLeave>;
  private leave: { readonly token: string; readonly until: number } | null = null;

  /** `ask`: for leave to upload. */
  constructor(host: MediaHost, ask: (signal: AbortSignal) => Promise<UploadLeave>) {
    this.host = host;
    this.ask = ask;
  }

  /** Rejects with a `SendFailure`. */
  async put(part: FilePart, signal: AbortSignal): Promise<Uploaded> {
    if (part.bytes > maxFileOutBytes)
      throw new SendFailure('refused', `WhatsApp takes files of at most ${maxFileOutBytes} bytes.`);
    if (part.bytes === 0) throw new SendFailure('refused', 'WhatsApp takes no empty files.');
    try {
      const kind = await kindOf(part);
      const key = randomBytes(32);
      const keys = await mediaKeysOf(key, kind);
      // Its address is a hash of what is uploaded. So it is encrypted twice, and need not be kept meanwhile.
      const digests = await digestsOf(read(part, signal), keys);
      const reply = await this.upload({ part, kind, keys, digests }, signal);
      return { kind, key, digests, ...placeIn(reply) };
    } catch (error) {
      throw failureOf(error, signal);
    }
  }

  /** A leave that has ended before its time is asked for once more. */
  private async upload(sealing: Sealing, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.post(sealing, signal);
    } catch (error) {
      if (!(error instanceof MediaError) || error.status !== 401) throw error;
      this.leave = null;
      return await this.post(sealing, signal);
    }
  }

  private async post({ part, kind, keys, digests }: Sealing, signal: AbortSignal): Promise<unknown> {
    const auth = encodeURIComponent(await this.token(signal));
    const name = Buffer.from(digests.sealed).toString('base64url');
    const body = seal(read(part, signal), keys, digests.plain);
    return this.host.post(`/mms/${kind}/${name}?auth=${auth}&token=${name}`, body, sealedBytes(part.bytes), signal);
  }

  private async token(signal: AbortSignal): Promise<string> {
    if (this.leave && this.leave.until > Date.now()) return this.leave.token;
    try {
      const { token, forMs } = await untilAborted(this.ask(signal), signal);
      this.leave = { token, until: Date.now() + forMs };
      return token;
    } catch (error) {
      if (error instanceof SendFailure) throw error;
      throw new SendFailure('retry', 'WhatsApp gave no leave to send files.');
    }
  }
}

/** Exactly as many bytes as were said. */
async function* read(part: FilePart, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of upTo(part.open(), part.bytes)) {
    signal.throwIfAborted();
    bytes += chunk.byteLength;
    yield chunk;
  }
  if (bytes !== part.bytes) throw new RangeError('a file of another length');
}

const beginnings: Readonly<Record<string, Buffer>> = {
  'image/jpeg': Buffer.from([0xff, 0xd8, 0xff]),
  'image/png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
};

/** Pictures that a phone would show as broken ones go as documents. */
async function kindOf(part: FilePart): Promise<MediaKind> {
  const beginning = beginnings[part.mediaType];
  if (beginning === undefined || part.bytes > maxImageBytes) return 'document';
  for await (const chunk of part.open())
    return beginning.equals(chunk.subarray(0, beginning.length)) ? 'image' : 'document';
  return 'document';
}

function placeIn(reply: unknown): Pick<Uploaded, 'path' | 'url'> {
  const { direct_path: path, url } = asObject(reply) ?? {};
  if (typeof path !== 'string' || !isMediaPath(path)) throw new MediaError('the media host gave no path');
  const address = textOf(url, maxUrlChars);
  return { path, url: address.startsWith('https://') ? address : null };
}

function failureOf(error: unknown, signal: AbortSignal): SendFailure {
  if (error instanceof SendFailure) return error;
  if (signal.aborted) return new SendFailure('retry', 'The send was given up.');
  if (!(error instanceof MediaError)) return new SendFailure('retry', 'The file could not be read to its end.');
  if (error.status === 413) return new SendFailure('refused', 'The file is larger than WhatsApp takes.');
  if (error.status === 429) return new SendFailure('retry', 'WhatsApp limits this account', { retryAfterMs: busyMs });
  return new SendFailure('retry', 'WhatsApp did not take the file.');
}
