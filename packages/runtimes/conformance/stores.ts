/** A stub of a git server and of the registries of pip and npm. Each has one program that prints a word. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Stores {
  /** Address on loopback, with `/code.git`, `/simple` for pip, and the root for npm. */
  readonly url: string;
  close(): Promise<void>;
}

/** The words that the programs print; all are called `plum`. */
export interface Words {
  readonly repository: string;
  readonly wheel: string;
  readonly npm: string;
}

/** Opens the stub. `seenAt` is its address for guests, for npm's links. */
export async function openStores(words: Words, seenAt: string): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-stores-'));
  await makeRepository(folder, words.repository);
  const wheel = await makeWheel(folder, words.wheel);
  const tarball = await makePackage(folder, words.npm);
  const answers: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
    '/simple/plum/': ['text/html', `<a href="../../plum-1.0-py3-none-any.whl#sha256=${sha256(wheel)}">plum</a>`],
    '/plum-1.0-py3-none-any.whl': ['application/octet-stream', wheel],
    '/plum': ['application/json', packument(tarball, seenAt)],
    '/plum/-/plum-1.0.0.tgz': ['application/octet-stream', tarball],
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://stores');
    const known = answers[pathname];
    if (known) return void response.setHeader('content-type', known[0]).end(known[1]);
    const missing = (): void => void response.writeHead(404).end();
    if (!/^\/code\.git\/[\w/.-]+$/.test(pathname) || pathname.includes('..')) return missing();
    readFile(join(folder, pathname)).then((bytes) => void response.end(bytes), missing);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server, folder) };
}

export async function closed(server: Server, folder: string): Promise<void> {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true });
}

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export async function put(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text, { mode: 0o755 });
  }
}

/** Makes a repository served as files, from which git's client fetches by its "dumb" protocol. */
async function makeRepository(folder: string, word: string): Promise<void> {
  const work = join(folder, 'work');
  await put(work, { say: `#!/bin/sh\necho ${word}\n` });
  const git = (...argv: string[]) =>
    run('git', ['-C', work, '-c', 'user.name=A', '-c', 'user.email=a@b.example', ...argv]);
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '.');
  await git('commit', '--quiet', '--message=Say a word');
  await git('clone', '--quiet', '--bare', '.', join(folder, 'code.git'));
  await run('git', ['-C', join(folder, 'code.git'), 'update-server-info']);
}

export async function makeWheel(folder: string, word: string): Promise<Buffer> {
  const info = 'plum-1.0.dist-info';
  const files = {
    'plum.py': `def say():\n    print("${word}")\n`,
    [`${info}/METADATA`]: 'Metadata-Version: 2.1\nName: plum\nVersion: 1.0\n',
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${info}/entry_points.txt`]: '[console_scripts]\nplum = plum:say\n',
  };
  const record = [...Object.keys(files), `${info}/RECORD`].map((name) => `${name},,\n`).join('');
  const tree = join(folder, 'wheel');
  await put(tree, { ...files, [`${info}/RECORD`]: record });
  const wheel = join(folder, 'plum.whl');
  await run('python3', ['-m', 'zipfile', '-c', wheel, 'plum.py', info], { cwd: tree });
  return readFile(wheel);
}

const manifest = { name: 'plum', version: '1.0.0', bin: { 'plum-of-npm': 'plum.js' } };

export async function makePackage(folder: string, word: string): Promise<Buffer> {
  await put(join(folder, 'package'), {
    'package.json': JSON.stringify(manifest),
    'plum.js': `#!/usr/bin/env node\nconsole.log(${JSON.stringify(word)});\n`,
  });
  const tarball = join(folder, 'plum.tgz');
  await run('tar', ['-czf', tarball, '-C', folder, 'package']);
  return readFile(tarball);
}

export function packument(tarball: Buffer, seenAt: string): string {
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const dist = { tarball: `${seenAt}/plum/-/plum-1.0.0.tgz`, integrity };
  return JSON.stringify({
    name: 'plum',
    'dist-tags': { latest: '1.0.0' },
    versions: { '1.0.0': { ...manifest, dist } },
  });
}
