import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime } from '@lodge/ports';
import { createHermesRuntime, createOpenclawRuntime } from '@lodge/runtimes';

/** The runtimes that Lodge brings. */
export const allRuntimes = (): ReadonlyMap<RuntimeKind, AgentRuntime> =>
  new Map<RuntimeKind, AgentRuntime>([
    ['runtime_a', createOpenclawRuntime()],
    ['runtime_b', createHermesRuntime()],
  ]);
