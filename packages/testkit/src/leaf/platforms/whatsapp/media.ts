/**
 * The media host: accepts uploads of devices with the server's permission, and sends files to anybody who knows their path.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { proto } from 'baileys';
import { openFile, sealFile, sha256 } from './media-cipher.ts';
import type { MediaKind } from './media-cipher.ts';

/** The media host's misbehaviour until the test changes it. */
export interface MediaMisbehaviour {
  /**
   * `cut`: the file ends in its middle, as if that were its end. `breaks`: the connection does. `forged`: other bytes of the same
   * length, with a good HMAC no more. `endless`: bytes for ever. `slow`: a byte now and then. `silent`: nothing. `redirects`: to
   * another host. `gone`: 410, as after some weeks.
   */
  downloads: 'well' | 'cut' | 'breaks' | 'forged' | 'endless' | 'slow' | 'silent' | 'redirects' | 'gone';
  /**
   * `unauthorized`: every leave is refused. `too_large`: 413. `breaks`: the connection does, in the middle of the file. `silent`:
   * no answer. `redirects`: to another host. `nonsense`: an answer of no use. `failing`: 503.
   */
  uploads: 'well' | 'unauthorized' | 'too_large' | 'breaks' | 'silent' | 'redirects' | 'nonsense' | 'failing';
}

/** A file that a person sends. */
export interface PersonFile {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly caption?: string;
  /** Spoken into the phone. */
  readonly isVoice?: boolean;
}

/** A file as a phone shows it. */
export interface PhoneFile {
  readonly kind: MediaKind;
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: Buffer;
}

const maxFileBytes = 128 * 1024 * 1024;
const kinds: readonly string[] = ['image', 'video', 'audio', 'document'] satisfies MediaKind[];
const elsewhere = '/elsewhere';

export class MediaServer {
  readonly url: string;
  readonly misbehave: MediaMisbehaviour = { downloads: 'well', uploads: 'well' };
  /** Requests to the other host, to which it redirects. */
  strayed = 0;
  uploads = 0;
  downloads = 0;
  private readonly server: Server;
  private readonly files = new Map<string, Buffer>();
  private readonly leaves = new Set<string>();

  private constructor(server: Server) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      request.on('error', () => undefined);
      void this.answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<MediaServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MediaServer(server);
  }

  /** A token by which a device may upload. */
  giveLeave(): string {
    const token = randomBytes(24).toString('base64');
    this.leaves.add(token);
    return token;
  }

  /** Leaves that were given are good no more. */
  endLeaves(): void {
    this.leaves.clear();
  }

  /** A phone uploads a file; the message that it sends then. Pictures, videos and sounds have no name there. */
  put({ name, mediaType, bytes, caption, isVoice }: PersonFile): proto.IMessage {
    const [before = ''] = mediaType.split('/', 1);
    const kind = kinds.includes(before) ? (before as MediaKind) : 'document';
    const { sealed, ...keys } = sealFile(bytes, kind);
    const { path, url } = this.keep(sealed);
    const media = {
      ...keys,
      directPath: path,
      url,
      mimetype: mediaType,
      fileLength: bytes.length,
      mediaKeyTimestamp: Math.floor(Date.now() / 1000),
    };
    const said = caption === undefined ? {} : { caption };
    switch (kind) {
      case 'image':
        return { imageMessage: { ...media, ...said } };
      case 'video':
        return { videoMessage: { ...media, ...said } };
      case 'audio':
        return { audioMessage: { ...media, ptt: isVoice ?? false } };
      case 'document': {
        const documentMessage = { ...media, ...said, fileName: name, title: name };
        // As phones do it.
        return caption === undefined
          ? { documentMessage }
          : { documentWithCaptionMessage: { message: { documentMessage } } };
      }
    }
  }

  /** A phone's view of a message's file; null: it has none. Throws where the phone could not read it. */
  fileOf({ imageMessage, documentMessage }: proto.IMessage): PhoneFile | null {
    const media = imageMessage ?? documentMessage;
    if (!media) return null;
    const kind = imageMessage ? 'image' : 'document';
    const sealed = this.files.get(media.directPath ?? '');
    if (!sealed) throw new Error('the file does not lie at the media host');
    const { mediaKey, fileSha256, fileEncSha256 } = media;
    const [key, plain, encrypted] = [mediaKey, fileSha256, fileEncSha256].map((each) => Buffer.from(each ?? []));
    const bytes = openFile(sealed, kind, { mediaKey: key!, fileSha256: plain!, fileEncSha256: encrypted! });
    if (Number(media.fileLength) !== bytes.length) throw new Error('the length of the file is wrong');
    return { kind, name: documentMessage?.fileName ?? '', mediaType: media.mimetype ?? '', bytes };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private keep(sealed: Buffer): { path: string; url: string } {
    const id = randomBytes(12).toString('hex');
    const path = `/v/t62.7118-24/${id}_n.enc?ccb=11-4&oh=01_${id}&oe=69A0B1C2&_nc_sid=5e03e0`;
    this.files.set(path, sealed);
    return { path, url: `https://mmg.whatsapp.net${path}&mms3=true` };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, this.url);
    if (url.pathname.startsWith(elsewhere) || request.headers.host !== new URL(this.url).host) {
      this.strayed += 1;
      return end(response, 404);
    }
    if (request.method === 'POST') return this.take(request, response, url);
    this.downloads += 1;
    const sealed = this.files.get(request.url!);
    if (request.method !== 'GET' || !sealed) return end(response, 404);
    return this.give(sealed, response);
  }

  private async give(sealed: Buffer, response: ServerResponse): Promise<void> {
    const { downloads } = this.misbehave;
    const half = sealed.subarray(0, sealed.length >> 1);
    const whole = { 'content-length': sealed.length, 'content-type': 'application/octet-stream' };
    switch (downloads) {
      case 'well':
        return void response.writeHead(200, whole).end(sealed);
      case 'cut':
        return void response.writeHead(200).end(half);
      case 'breaks':
        response.writeHead(200, whole).write(half);
        return void setTimeout(() => response.destroy(), 50);
      case 'forged':
        return void response.writeHead(200, whole).end(flipped(sealed));
      case 'endless':
        response.writeHead(200);
        while (!response.destroyed) if (!response.write(Buffer.alloc(65_536))) await drained(response);
        return;
      case 'slow':
        response.writeHead(200, whole);
        for (const byte of sealed) {
          if (response.destroyed) return;
          response.write(Buffer.from([byte]));
          await sleep(100);
        }
        return;
      case 'silent':
        return;
      case 'redirects':
        return this.redirect(response);
      case 'gone':
        return end(response, 410);
    }
  }

  /** As a device uploads: the path and the token name the SHA-256 of the body, the leave is of the server. */
  private async take(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    this.uploads += 1;
    const [, mms, kind = '', name = ''] = url.pathname.split('/');
    const { uploads } = this.misbehave;
    if (uploads === 'silent') return void request.resume();
    if (uploads === 'breaks') return void request.once('data', () => request.destroy());
    // By the length that is said, before the file has come.
    if (uploads === 'too_large') return end(response, 413);
    const body = await bodyOf(request);
    if (uploads === 'redirects') return this.redirect(response);
    if (uploads === 'failing') return end(response, 503);
    if (body === null) return end(response, 413);
    if (mms !== 'mms' || !kinds.includes(kind)) return end(response, 404);
    if (request.headers['content-length'] === undefined) return end(response, 411);
    const isLeft = this.leaves.has(url.searchParams.get('auth') ?? '');
    if (uploads === 'unauthorized' || !isLeft) return end(response, 401);
    const isNamed = name === sha256(body).toString('base64url') && name === url.searchParams.get('token');
    if (!isNamed) return end(response, 400);
    if (uploads === 'nonsense') return void response.writeHead(200).end('{"direct_path":"//elsewhere.example/x"}');
    const { path, url: address } = this.keep(body);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ url: address, direct_path: path, handle: '' }));
  }

  /** By another name of this machine, so that who follows is seen. */
  private redirect(response: ServerResponse): void {
    const { port } = new URL(this.url);
    response.writeHead(302, { location: `http://localhost:${port}${elsewhere}/file` }).end();
  }
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(String(status));
}

const flipped = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 1));

/** Resolves when it takes more, or is closed. */
async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]).catch(() => undefined);
  over.abort();
}

/** Null: it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= maxFileBytes) chunks.push(chunk);
  }
  return bytes > maxFileBytes ? null : Buffer.concat(chunks);
}
