import type { RuntimeKind } from '@lodge/domain';
import type { AgentRuntime } from '@lodge/ports';
import type { Templates } from '../../templates/templates.ts';
import type { PortableDeps } from './deps.ts';
import { ImportKeeper } from './keeper.ts';
import { createPortable } from './portable.ts';
import type { Portable } from './portable.ts';

export { Exports } from './exports.ts';
export type { PortableParts } from './parts.ts';
export type { Portable } from './portable.ts';

const keepEveryMs = 60_000;
/** Longer than a request with an import may be silent. */
const untouchedMs = 60 * 60_000;

interface OpenDeps extends Omit<PortableDeps, 'versions' | 'parts'> {
  readonly templates: Pick<Templates, 'current' | 'versionOf'>;
  readonly portable?: PortableDeps['parts'];
}

/** The use-cases, and the loop that removes files; neither where the engine was given no parts for them. */
export function openPortable({ templates, portable: parts, ...deps }: OpenDeps): {
  readonly portable: Portable | null;
  readonly imports: readonly ImportKeeper[];
} {
  if (parts === undefined) return { portable: null, imports: [] };
  const versionOf = (kind: RuntimeKind, runtime: AgentRuntime): string => {
    const template = templates.current(kind);
    return (template && templates.versionOf(template.id)) ?? runtime.version;
  };
  const versions = () =>
    new Map([...deps.runtimes].map(([kind, runtime]) => [kind, versionOf(kind, runtime)] as const));
  const keeper = new ImportKeeper({
    database: deps.database,
    files: parts.files,
    log: deps.log,
    everyMs: keepEveryMs,
    untouchedMs,
  });
  return { portable: createPortable({ ...deps, parts, versions }), imports: [keeper] };
}
