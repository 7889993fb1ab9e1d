/** A whole chain of nft. */
export interface Chain {
  readonly name: string;
  /** Type, hook, priority and policy where the kernel enters it; null: only other chains lead to it. */
  readonly hook: string | null;
  readonly rules: readonly string[];
}

/** A chain that only other chains lead to. */
export const inner = (name: string, ...rules: string[]): Chain => ({ name, hook: null, rules });

/**
 * A table with these chains as given, as nft text, whatever they held before, in one transaction. Other chains and the
 * `objects` (sets, maps, counters) stay as they are, and are made if they are missing. `table`: family and name.
 */
export function tableText(table: string, objects: readonly string[], chains: readonly Chain[]): string {
  return [
    `table ${table} {`,
    ...objects,
    ...chains.map(({ name, hook }) => `chain ${name} { ${hook === null ? '' : `${hook};`} }`),
    '}',
    ...chains.map(({ name }) => `flush chain ${table} ${name}`),
    ...chains.flatMap(({ name, rules }) => rules.map((rule) => `add rule ${table} ${name} ${rule}`)),
    '',
  ].join('\n');
}
