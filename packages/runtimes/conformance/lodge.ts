/**
 * A Lodge with the runtimes that `CONFORMANCE_RUNTIMES` names; with all of them where it names none. With another
 * `CONFORMANCE_RELEASE` its templates are others than before.
 */
import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime } from '@lodge/ports';
import { createHermesRuntime, createOpenclawRuntime } from '@lodge/runtimes';
import { runLodge } from '../../../apps/server/src/run.ts';

const all: readonly [RuntimeKind, AgentRuntime][] = [
  ['runtime_a', createOpenclawRuntime()],
  ['runtime_b', createHermesRuntime()],
];
const { CONFORMANCE_RUNTIMES, CONFORMANCE_RELEASE: release = '' } = process.env;
const wanted = CONFORMANCE_RUNTIMES?.split(',');
const runtimes = all
  .filter(([, { name }]) => wanted?.includes(name) ?? true)
  .map(([kind, runtime]) => [kind, { ...runtime, templateVariant: runtime.templateVariant + release }] as const);
const variables = ['CONFORMANCE_RUNTIMES', 'CONFORMANCE_RELEASE'];
await runLodge(process.env, { runtimes: new Map(runtimes), variables });
