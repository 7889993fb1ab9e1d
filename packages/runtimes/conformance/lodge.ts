/**
 * A Lodge with the runtimes that `CONFORMANCE_RUNTIMES` names, or with all of them. With another `CONFORMANCE_RELEASE` it
 * has new templates. Each is made whole, unless `CONFORMANCE_EARLY` asks for the early one first.
 */
import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime } from '@lodge/ports';
import { createHermesRuntime, createOpenclawRuntime } from '@lodge/runtimes';
import { runLodge } from '../../../apps/server/src/run.ts';

const all: readonly [RuntimeKind, AgentRuntime][] = [
  ['runtime_a', createOpenclawRuntime()],
  ['runtime_b', createHermesRuntime()],
];
const { CONFORMANCE_RUNTIMES, CONFORMANCE_RELEASE: release = '', CONFORMANCE_EARLY } = process.env;
const wanted = CONFORMANCE_RUNTIMES?.split(',');
const runtimes = all
  .filter(([, { name }]) => wanted?.includes(name) ?? true)
  .map(([kind, { early, ...runtime }]) => {
    const made = { ...runtime, templateVariant: runtime.templateVariant + release };
    return [kind, CONFORMANCE_EARLY && early ? { ...made, early } : made] as const;
  });
const variables = ['CONFORMANCE_RUNTIMES', 'CONFORMANCE_RELEASE', 'CONFORMANCE_EARLY'];
await runLodge(process.env, { runtimes: new Map(runtimes), variables });
