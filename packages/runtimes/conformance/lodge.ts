/** A Lodge with the runtimes that `CONFORMANCE_RUNTIMES` names; with all of them where it names none. */
import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime } from '@lodge/engine/ports';
import { createHermesRuntime, createOpenclawRuntime } from '@lodge/runtimes';
import { runLodge } from '../../../apps/server/src/run.ts';

const all: readonly [RuntimeKind, AgentRuntime][] = [
  ['runtime_a', createOpenclawRuntime()],
  ['runtime_b', createHermesRuntime()],
];
const wanted = process.env['CONFORMANCE_RUNTIMES']?.split(',');
await runLodge(process.env, { runtimes: new Map(all.filter(([, { name }]) => wanted?.includes(name) ?? true)) });
