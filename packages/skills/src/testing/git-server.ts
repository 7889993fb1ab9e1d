/** A server that speaks git's smart HTTP, version 2, over objects that a test makes, hostile ones too. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync } from 'node:zlib';
import { flush, pktLine } from '../git/pkt-line.ts';

const types = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

export interface MadeObject {
  readonly id: string;
  readonly type: keyof typeof types;
  readonly data: Buffer;
}

export function objectOf(type: MadeObject['type'], text: string | Buffer): MadeObject {
  const data = Buffer.from(text as string);
  const id = createHash('sha1').update(`${type} ${data.length}\0`).update(data).digest('hex');
  return { id, type, data };
}

export interface InTree {
  readonly name: string;
  readonly mode?: string;
  readonly object: Pick<MadeObject, 'id'>;
}

export const treeOf = (entries: readonly InTree[]): MadeObject =>
  objectOf(
    'tree',
    Buffer.concat(
      entries.flatMap(({ name, mode = '100644', object }) => [
        Buffer.from(`${mode} ${name}\0`),
        Buffer.from(object.id, 'hex'),
      ]),
    ),
  );

export const commitOf = (tree: MadeObject): MadeObject =>
  objectOf('commit', `tree ${tree.id}\nauthor a <a> 0 +0000\n\nx\n`);

/** The head of an entry of a pack. */
export function headOf(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 127);
  }
  return Buffer.from(bytes);
}

export function packOf(entries: readonly (MadeObject | Buffer)[], count = entries.length): Buffer {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(count, 8);
  const body = entries.map((entry) =>
    Buffer.isBuffer(entry)
      ? entry
      : Buffer.concat([headOf(types[entry.type], entry.data.length), deflateSync(entry.data)]),
  );
  const whole = Buffer.concat([head, ...body]);
  return Buffer.concat([whole, createHash('sha1').update(whole).digest()]);
}

export interface GitServer {
  readonly url: string;
  /** Its references, and the pack for the wanted objects. */
  refs: readonly string[];
  pack: (wants: readonly string[]) => Buffer;
  canFilter: boolean;
  /** Answers instead, where it is set. */
  instead: { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string } | null;
  /** Answers a request of a command instead, where it gives something. */
  says: (command: string) => Buffer | string | null;
  close(): Promise<void>;
}

export async function startGitServer(): Promise<GitServer> {
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (server.instead !== null) {
        response.writeHead(server.instead.status, server.instead.headers);
        return void response.end(server.instead.body);
      }
      response.end(answer(request.url!, Buffer.concat(chunks).toString()));
    });
  });
  const answer = (url: string, body: string): Buffer | string => {
    if (url.includes('/info/refs')) {
      const fetch = server.canFilter ? 'fetch=shallow filter' : 'fetch=shallow';
      return pktLine('# service=git-upload-pack') + flush + pktLine('version 2') + pktLine(fetch) + flush;
    }
    const said = server.says(/command=([a-z-]+)/.exec(body)?.[1] ?? '');
    if (said !== null) return said;
    if (body.includes('command=ls-refs')) return server.refs.map(pktLine).join('') + flush;
    const pack = server.pack([...body.matchAll(/want ([0-9a-f]{40})/g)].map(([, id]) => id!));
    const lines: Buffer[] = [Buffer.from(pktLine('packfile'))];
    for (let at = 0; at < pack.length; at += 60_000) {
      const piece = pack.subarray(at, at + 60_000);
      lines.push(Buffer.from((piece.length + 5).toString(16).padStart(4, '0') + '\x01', 'latin1'), piece);
    }
    return Buffer.concat([...lines, Buffer.from(flush)]);
  };
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server: GitServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/skills.git`,
    refs: [],
    pack: () => packOf([]),
    canFilter: true,
    instead: null,
    says: () => null,
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}
