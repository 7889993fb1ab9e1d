import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime } from '@lodge/ports';
import { createHermesRuntime } from './hermes/runtime.ts';
import { createOpenclawRuntime } from './openclaw/runtime.ts';

export { createGateway } from './gateway/turns.ts';
export { createGuestFiles } from './guest-files.ts';
export { createGuestTrees } from './guest-trees.ts';
export { createGuestPackages } from './packages/install.ts';
export type { PackageMirrors } from './packages/install.ts';
export { createHermesRuntime, createOpenclawRuntime };

const creates: Readonly<Record<RuntimeKind, () => AgentRuntime>> = {
  runtime_a: createOpenclawRuntime,
  runtime_b: createHermesRuntime,
};

/** The runtimes that Lodge brings. */
export const allRuntimes = (): ReadonlyMap<RuntimeKind, AgentRuntime> =>
  new Map(Object.entries(creates).map(([kind, create]) => [kind as RuntimeKind, create()]));
