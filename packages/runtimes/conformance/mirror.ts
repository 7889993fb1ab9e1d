/**
 * A stub of an operator's mirrors: Debian's, a simple index and an npm registry. Each has one good package, whose program prints
 * the mirror's word. Debian's has bad ones, too.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closed, makePackage, makeWheel, packument, put, sha256 } from './stores.ts';

const run = promisify(execFile);

export interface Mirror {
  readonly word: string;
  /** Settings of a Lodge that uses it. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it answers; else it ends each connection. */
  isUp: boolean;
  /** Number of requests so far. */
  readonly requests: number;
  close(): Promise<void>;
}

const program = (word: string): string => `#!/bin/sh\necho ${word}\n`;

/** Packages of Debian's: files and the script that runs when each is installed. */
const packagesOf = (word: string) => ({
  'plum-deb': { files: { 'usr/bin/plum-deb': program(word) }, script: 'exit 0' },
  'plum-bad': { files: {}, script: 'echo "it does not go on here" >&2; exit 7' },
  'plum-hang': { files: {}, script: 'echo "it hangs from here on" >&2; sleep 3600' },
  /** Fills the disk up to the host's own bound and beyond. */
  'plum-fill': {
    files: {},
    script: 'for n in $(seq 100); do fallocate -l 64M /var/fill.$n || exit 1; sleep 0.2; done',
  },
});

export async function openMirror(word: string): Promise<Mirror> {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-mirror-'));
  const debian = await makeDebian(folder, packagesOf(word));
  const wheel = await makeWheel(folder, word);
  const tarball = await makePackage(folder, word);
  const answers = new Map<string, readonly [type: string, body: string | Buffer]>(debian);
  let requests = 0;
  let isUp = true;
  const server = createServer((request, response) => {
    requests += 1;
    if (!isUp) return void response.destroy();
    const known = answers.get(new URL(request.url!, 'http://mirror').pathname);
    if (known) response.setHeader('content-type', known[0]).end(request.method === 'HEAD' ? undefined : known[1]);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  answers.set('/simple/plum/', [
    'text/html',
    `<a href="../../plum-1.0-py3-none-any.whl#sha256=${sha256(wheel)}">plum-1.0-py3-none-any.whl</a>`,
  ]);
  answers.set('/plum-1.0-py3-none-any.whl', ['application/octet-stream', wheel]);
  answers.set('/plum', ['application/json', packument(tarball, url)]);
  answers.set('/plum/-/plum-1.0.0.tgz', ['application/octet-stream', tarball]);
  return {
    word,
    env: {
      LODGE_PACKAGES_APT: `deb [trusted=yes] ${url}/debian ./`,
      LODGE_PACKAGES_PIP: `${url}/simple`,
      LODGE_PACKAGES_NPM: url,
    },
    get isUp() {
      return isUp;
    },
    set isUp(up) {
      isUp = up;
    },
    get requests() {
      return requests;
    },
    close: () => closed(server, folder),
  };
}

type Sources = Readonly<Record<string, { readonly files: Readonly<Record<string, string>>; readonly script: string }>>;

/** Makes a flat repository: its paths and answers. */
async function makeDebian(
  folder: string,
  packages: Sources,
): Promise<[path: string, answer: readonly [type: string, body: string | Buffer]][]> {
  const built = Object.entries(packages).map(async ([name, { files, script }]) => {
    const control = `Package: ${name}\nVersion: 1.0-1\nArchitecture: all\nMaintainer: A <a@b.example>\nDescription: a plum\n`;
    const tree = join(folder, name);
    const parts = {
      'DEBIAN/control': control,
      'DEBIAN/postinst': `#!/bin/sh\n[ "$1" = configure ] || exit 0\n${script}\n`,
    };
    await put(tree, { ...parts, ...files });
    const deb = join(folder, `${name}.deb`);
    await run('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', tree, deb]);
    const bytes = await readFile(deb);
    return {
      name,
      bytes,
      entry: `${control}Filename: ./${name}.deb\nSize: ${bytes.length}\nSHA256: ${sha256(bytes)}\n`,
    };
  });
  const debs = await Promise.all(built);
  const index = Buffer.from(debs.map(({ entry }) => entry).join('\n'));
  const release = `Suite: test\nCodename: test\nDate: ${new Date().toUTCString().replace('GMT', 'UTC')}\nSHA256:\n ${sha256(index)} ${index.length} Packages\n`;
  return [
    ['/debian/./Release', ['text/plain', release]],
    ['/debian/Release', ['text/plain', release]],
    ['/debian/Packages', ['text/plain', index]],
    ['/debian/./Packages', ['text/plain', index]],
    ...debs.map(({ name, bytes }) => [`/debian/${name}.deb`, ['application/octet-stream', bytes]] as const),
  ].map(([path, answer]) => [path as string, answer as readonly [string, string | Buffer]]);
}
