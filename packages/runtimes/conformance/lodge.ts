/**
 * A Lodge with the runtimes that `CONFORMANCE_RUNTIMES` names, or with all of them. With another `CONFORMANCE_RELEASE` it
 * has new templates. Each is made whole. With `CONFORMANCE_EARLY=first` the early one comes first, as in production. With
 * `CONFORMANCE_EARLY=alone` nothing comes after it. Plans of snapshots are looked at every `CONFORMANCE_SNAPSHOTS_EVERY_MS`, for
 * measurements of very many.
 */
import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime } from '@lodge/ports';
import { runLodge } from '../../../apps/server/src/run.ts';
import { allRuntimes } from '../src/index.ts';
import { earlyVariant } from '../../engine/src/templates/maker.ts';

const { CONFORMANCE_RUNTIMES, CONFORMANCE_RELEASE: release = '', CONFORMANCE_EARLY: early } = process.env;
const { CONFORMANCE_SNAPSHOTS_EVERY_MS: everyMs } = process.env;
const wanted = CONFORMANCE_RUNTIMES?.split(',');

function made({ early: first, ...runtime }: AgentRuntime): AgentRuntime {
  const whole = { ...runtime, templateVariant: runtime.templateVariant + release };
  if (early === undefined || !first) return whole;
  const both = { ...whole, early: first };
  if (early === 'first') return both;
  // Its template ends where the early one does, and is that one.
  const prepareTemplate: AgentRuntime['prepareTemplate'] = (...asked) => first.prepare(...asked);
  return { ...whole, templateVariant: earlyVariant(both)!, prepareTemplate };
}

const runtimes = [...allRuntimes()]
  .filter(([, { name }]) => wanted?.includes(name) ?? true)
  .map(([kind, runtime]): [RuntimeKind, AgentRuntime] => [kind, made(runtime)]);
const variables = ['RUNTIMES', 'RELEASE', 'EARLY', 'SNAPSHOTS_EVERY_MS'].map((name) => `CONFORMANCE_${name}`);
const bounds = everyMs === undefined ? {} : { snapshotsEveryMs: Number(everyMs) };
await runLodge(process.env, { runtimes: new Map(runtimes), bounds, variables });
