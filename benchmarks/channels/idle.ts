/** Measures idle connections of a platform: a number of them in a separate process (`holder.ts`), at a stub in this one. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { ChannelName } from '@lodge/domain';
import type { HeldFigures, HolderOrder, HolderReply } from './holder.ts';
import { stands } from './stands.ts';

export interface IdleFigures extends HeldFigures {
  readonly channel: ChannelName;
  readonly connections: number;
}

export async function idle(channel: ChannelName, connections: number): Promise<IdleFigures> {
  const { platforms, credentials, scan } = await stands[channel](connections);
  const child = fork(new URL('./holder.ts', import.meta.url), [], {
    // Like a relay's process (apps/server/src/relay/relays.ts). Garbage is not counted.
    execArgv: ['--max-semi-space-size=4', '--expose-gc'],
  });
  const figures = Promise.withResolvers<IdleFigures>();
  child.on('message', (reply: HolderReply) => {
    if ('qr' in reply) scan!(reply.account, reply.qr);
    else figures.resolve({ channel, connections, ...reply });
  });
  child.on('exit', () => figures.reject(new Error(`the process that holds connections to ${channel} ended`)));
  child.send({ channel, platforms, credentials } satisfies HolderOrder);
  const measured = await figures.promise;
  child.kill();
  await once(child, 'exit');
  return measured;
}
