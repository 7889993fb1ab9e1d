/**
 * What an idle linked device of WhatsApp costs the relay: memory, and processor time to connect. The stub runs in a process of its
 * own, so that only the client is measured. Runs alone: `node --expose-gc benchmarks/channels-whatsapp.ts [100]`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { ConnectionHost, ConnectionState } from '@lodge/ports';
import { createWhatsApp } from '../packages/channels/src/whatsapp/index.ts';

if (process.argv[2] === 'stub') {
  const stub = await startWhatsAppStub();
  process.on('message', ({ number, qr }: { number: string; qr: string }) =>
    stub.scan(stub.account(number, 'Agent'), qr),
  );
  process.send!({ url: stub.url, root: stub.root.toString('hex') });
} else await measure(Number(process.argv[2] ?? 100));

async function measure(connections: number): Promise<void> {
  const child = fork(import.meta.filename, ['stub']);
  const [{ url, root }] = (await once(child, 'message')) as [{ url: string; root: string }];
  const platform = createWhatsApp({ url, certificateRoot: Buffer.from(root, 'hex') });
  const rssMib = (): number => {
    globalThis.gc?.();
    return process.memoryUsage.rss() / 2 ** 20;
  };
  const before = { rssMib: rssMib(), cpu: process.cpuUsage(), at: Date.now() };
  const open = await Promise.all(
    Array.from({ length: connections }, (_, at) => connected(String(15_550_000_000 + at), platform, child)),
  );
  const cpu = process.cpuUsage(before.cpu);
  const connectedInMs = Date.now() - before.at;
  // Pre-keys are made at the first login; the library's timers of it are over after half a minute.
  await sleep(40_000);
  const kib = ((rssMib() - before.rssMib) * 1024) / connections;
  const idle = process.cpuUsage();
  await sleep(20_000);
  const idleCpu = process.cpuUsage(idle);
  console.log({
    connections,
    connectedInMs,
    'RSS before, MiB': Math.round(before.rssMib),
    'KiB each': Math.round(kib),
    'CPU ms each, pairing and first login': Math.round((cpu.user + cpu.system) / 1_000 / connections),
    'idle CPU % of all': Number(((idleCpu.user + idleCpu.system) / 200_000).toFixed(2)),
  });
  await Promise.all(open.map((connection) => connection.close()));
  child.kill();
  process.exit(0);
}

/** Keeps its keys outside of memory, as the relay does: nothing is read back here. */
async function connected(
  number: string,
  platform: ReturnType<typeof createWhatsApp>,
  child: ReturnType<typeof fork>,
): Promise<ReturnType<ReturnType<typeof createWhatsApp>['connect']>> {
  const isOpen = Promise.withResolvers<void>();
  const quiet = (): void => undefined;
  const host: ConnectionHost = {
    received: async () => undefined,
    at: async () => undefined,
    keep: async () => undefined,
    changed: (state: ConnectionState) => {
      if (state.status === 'pending_pairing' && state.code?.qr) child.send({ number, qr: state.code.qr });
      if (state.status === 'connected') isOpen.resolve();
    },
    vault: { get: async () => ({}), set: async () => undefined, clear: async () => undefined },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  };
  const connection = platform.connect(
    { agentId: number, credentials: {}, wantsUnaddressed: false, cursor: null },
    host,
  );
  await isOpen.promise;
  return connection;
}
