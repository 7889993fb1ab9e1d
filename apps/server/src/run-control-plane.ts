/**
 * The control plane as a process without privileges: HTTP, broker, database client, engine. The machine host passes all that
 * it needs, and it ends with the machine host.
 */
import { Socket } from 'node:net';
import type { RuntimeKind } from '@lodge/domain';
import type { TemplateProgress } from '@lodge/engine';
import type { AgentRuntime } from '@lodge/ports';
import { Channel, createRemoteMachines } from '@lodge/vm/remote';
import { readConfig } from './config/config.ts';
import { lockControlPlane } from './host/instance-lock.ts';
import type { LodgeBounds } from './lodge-options.ts';
import { channelFd, readHandover } from './machine-host/handover.ts';
import type { Handover } from './machine-host/handover.ts';
import { launchRelay, relayDoorOf } from './machine-host/relays/door.ts';
import { configOrExit, exitWith, processLog, say } from './process-output.ts';
import type { RelayGroup } from './relay/groups.ts';
import { startLodge } from './wire.ts';
import type { Lodge } from './wire.ts';
import { servesEarly } from './template-words.ts';

/** Progress of the same step is said this often at most. */
const progressEveryMs = 15_000;
/** An earlier control plane whose machine host was killed is gone by then. */
const lockTimeoutMs = 10_000;

export interface ControlPlaneOptions {
  readonly runtimes?: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly bounds?: LodgeBounds;
}

export async function runControlPlane(env: NodeJS.ProcessEnv, options: ControlPlaneOptions): Promise<void> {
  // Signals are for the machine host, which passes on what they mean: a service manager sends them to both.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  const channel = openChannel();
  const end = endWith(channel);
  const { brokerHost, secrets, ...handed } = await handover(channel);
  const config = configOrExit(() => readConfig({ ...env, ...secrets }));
  const log = processLog(config, env);
  try {
    await lockControlPlane(config.dataDir, lockTimeoutMs);
    const host = {
      ...handed,
      ...createRemoteMachines(channel, { brokerHost }),
      launchRelay: (group: RelayGroup) => launchRelay(relayDoorOf(config), group),
    };
    const lodge = await startLodge(config, { ...options, host, log, onTemplateProgress: progressPrinter() });
    end.by(() => lodge.close());
    // It may fail while the first words are still being said, and is awaited after them.
    lodge.ready.catch(() => undefined);
    await greet(lodge, config.dataDir);
    await lodge.ready;
  } catch (error) {
    log.fatal({ err: error }, 'Lodge did not start');
    exitWith(error instanceof Error ? error.message : String(error));
  }
}

async function greet(lodge: Lodge, dataDir: string): Promise<void> {
  say('API', lodge.baseUrl);
  say('Data', dataDir);
  if (lodge.firstKey) {
    say('API key', `${lodge.firstKey.plaintext}  (all scopes; shown this once)`);
    await lodge.firstKey.shown();
  }
  if (lodge.ownerLink) {
    say('Sign in', `${lodge.ownerLink.url(new URL(lodge.baseUrl).origin)}  (yours for 24 hours; shown this once)`);
    await lodge.ownerLink.shown();
  }
  void lodge.weaknesses.then((weaknesses) => {
    for (const { name, detail, advice } of weaknesses) say('Warning', `${name}: ${detail} (${advice})`);
  });
}

function openChannel(): Channel {
  try {
    return new Channel(new Socket({ fd: channelFd, readable: true, writable: true }), { peer: 'machineHost' });
  } catch {
    return exitWith('The control plane is started by npm start, never by itself.');
  }
}

function handover(channel: Channel): Promise<Handover> {
  const { promise, resolve } = Promise.withResolvers<Handover>();
  channel.receive('handover', (message) => resolve(readHandover(message)));
  channel.open();
  return promise;
}

/** Ends the process on request, with the given function; and at once when the machine host is gone. */
function endWith(channel: Channel): { readonly by: (close: () => Promise<void>) => void } {
  let close: () => Promise<void> = () => Promise.resolve();
  channel.receive('end', () => void close().then(() => process.exit(0)));
  void channel.ended.then(() => process.exit(1));
  return {
    by(given) {
      close = given;
    },
  };
}

/** Says each step as it begins, and every while how far a long one is. */
function progressPrinter(): (progress: TemplateProgress) => void {
  let lastStep = '';
  let lastAt = 0;
  return (progress) => {
    const now = Date.now();
    // Some steps count their own seconds.
    const step = `${progress.runtime}: ${progress.step.replace(/ \(\d+ s\)$/, '')}`;
    if (step === lastStep && now - lastAt < progressEveryMs) return;
    lastStep = step;
    lastAt = now;
    const seconds = Math.round((now - progress.since.getTime()) / 1000);
    const states = {
      building: step,
      failed: `failed, to be tried again: ${step.split('\n')[0]}`,
      early: servesEarly,
      ready: 'ready',
    };
    const state = states[progress.state];
    const percent =
      progress.fraction === null || progress.state !== 'building' ? '' : ` ${Math.round(progress.fraction * 100)} %`;
    say('Template', `${progress.runtime} ${state}${percent}${progress.state === 'building' ? ` (${seconds} s)` : ''}`);
  };
}
