/**
 * A network namespace with nothing but a loopback, for a browser. Chromium ends every running request when an address comes
 * to or leaves any interface that it sees (ERR_NETWORK_CHANGED). On a machine where virtual machines come and go, that
 * happens all the time.
 */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

export interface QuietNetwork {
  /** A program that starts `program` in the namespace with the arguments it is given. */
  wrapper(program: string): Promise<string>;
  close(): Promise<void>;
}

/** Each of these ports of its loopback leads to the server that has the port here. Needs root. */
export async function openQuietNetwork(ports: readonly number[]): Promise<QuietNetwork> {
  const folder = await mkdtemp(join(tmpdir(), 'lodge-quiet-'));
  const inside = fork(import.meta.filename, ports.map(String), {
    execPath: await script(folder, 'node', `unshare --net ${process.execPath}`),
  });
  await new Promise<void>((done, fail) => {
    inside.once('exit', () => fail(new Error('no namespace for the browser')));
    let come = 0;
    inside.on('message', (port: number, server: Server) => {
      server.on('connection', (socket) => {
        const there = connect(port, '127.0.0.1');
        pipeline(socket, there, () => {});
        pipeline(there, socket, () => {});
      });
      server.unref();
      come += 1;
      if (come === ports.length) done();
    });
  });
  return {
    wrapper: (program) => script(folder, 'browser', `nsenter --net=/proc/${inside.pid}/ns/net ${program}`),
    async close() {
      inside.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function script(folder: string, name: string, command: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  return path;
}

/** The other side: listens in the namespace, and hands the listeners to its parent, which serves them. */
async function listen(): Promise<void> {
  const { status, stderr } = spawnSync('ip', ['link', 'set', 'lo', 'up']);
  if (status !== 0) throw new Error(String(stderr));
  for (const port of process.argv.slice(2).map(Number)) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    process.send!(port, server, {}, () => server.close());
  }
  // The namespace lasts until the parent ends this process.
  process.on('disconnect', () => process.exit());
}

if (process.argv[1] === import.meta.filename && process.send !== undefined) await listen();
