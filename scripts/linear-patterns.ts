/**
 * Checks that every regular expression of the code takes time in proportion to its text, whoever wrote the text. One that
 * begins anew at each character, or tries a text in many ways, would let a guest delay everybody. recheck tells the two
 * apart. It takes seconds for some expressions, so its proofs are kept in `linear-patterns.json`, which the test reads.
 *
 *   node scripts/linear-patterns.ts     checks the expressions that are new, and writes the file
 */
import { glob, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import type { check } from 'recheck';

const root = join(import.meta.dirname, '..');
const provedFile = join(root, 'scripts/linear-patterns.json');
const folders = ['packages/*/src/**/*.{ts,tsx}', 'apps/*/src/**/*.{ts,tsx}', 'images/src/**/*.ts'];
const tests = /\.test\.ts$|\/testing\/|^packages\/testkit\//;
/** recheck's programs for other machines are faster, and give other answers. */
const backend = 'pure';
const timeoutMs = 60_000;

/**
 * Expressions that recheck cannot clear, with the reason why they may stay. For a look ahead or behind recheck only tries
 * texts, and counts a look behind from the beginning of the text, which V8 does not.
 */
export const excepted: Readonly<Record<string, string>> = {
  '/<script type="text\\/javascript">([\\s\\S]*?)<\\/script>/': 'text: a page of our own dependency, once at the start',
  '/^\\s*nameserver\\s+(\\d+\\.\\d+\\.\\d+\\.\\d+)\\s*$/gm': "text: the host's resolv.conf",
  '/\\t(map slots|chain slot_\\d+) \\{\\n(?:\\t\\t.*\\n)*\\t\\}\\n\\n?/g': "text: the host's nft",
  '/^\\s*rom=/m': "text: the host's QEMU, asked for its version",
  '/\\/+$/': "text: the operator's address of a provider",
  '/=+$/': 'text: base64 of a key of known length',
  '/\\.?0+$/': 'text: a price of bounded digits',
  '/[MNO][A-Za-z0-9_-]{22,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,}/':
    'at most 28 characters are tried at each place before a dot; redact.test.ts measures it',
  '/(?<![0-9])[0-9]{6,12}:[A-Za-z0-9_-]{30,}/g':
    'at most 43 characters are tried at each place; redact.test.ts measures it',
  '/(?<![A-Za-z0-9_-])[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]*){2,}/g':
    'begins at the beginning of a word alone; redact.test.ts measures it',
  '/(?<=[a-z0-9+.-]:\\/\\/)[^\\s/@"\'<>]{1,256}@/gi': 'begins behind :// alone; redact.test.ts measures it',
  '/\\b((?:password|passphrase|passcode|secret|token|api key)\\s{1,4}(?:is|was|=)\\s{1,4}["\'`]?)(?=[^\\s]{0,200}[0-9])[^\\s"\'`]{4,}/gi':
    'begins with a word; at most 200 characters are tried behind it; redact.test.ts measures it',
  '/^\\$argon2id\\$v=19\\$m=(\\d{1,7}),t=(\\d{1,3}),p=(\\d{1,2})\\$([\\w+/]+)\\$([\\w+/]+)$/':
    'text: a hash that we made',
  '/^/(?!/)[\\u0021-\\u005b\\u005d-\\u007e]*$/u': 'anchored, and one repetition to the end',
};

/** Files that assemble expressions from parts, and the proof that those are linear. */
const made: Readonly<Record<string, string>> = {
  'packages/domain/src/redact.ts': 'redact.test.ts measures the whole of it on the costliest texts',
  'packages/vm/src/qemu/network/resolver/lookups.ts':
    'labels of at most 63 characters parted by dots: each character can stand in one place; text: a name of at most 253',
  'packages/access/src/api-key.ts': 'of constants, anchored, without repetition that has no bound',
  'packages/vm/src/qemu/host/capacity.ts': "text: the host's meminfo",
  'packages/vm/src/qemu/lifecycle/leftovers.ts': "text: arguments of the host's processes",
  'apps/server/src/config/values.ts': "text: the operator's configuration, at most 190 characters",
  'apps/server/src/config/spend.ts': 'a pattern of the contract, which is checked as such',
  'apps/server/src/http/reply/agent-record.ts': 'a pattern of the contract, which is checked as such',
  'apps/server/src/http/routes/uploads/shared.ts': 'a pattern of the contract, which is checked as such',
  'apps/web/src/pages/agent/settings/kinds.ts': 'patterns of the contract, which are checked as such',
  'apps/cli/src/apply/file/check.ts': 'patterns of the contract, which are checked as such',
};

export interface Patterns {
  /** `/source/flags`, with the files that have it. */
  readonly written: ReadonlyMap<string, readonly string[]>;
  /** Files with an assembled expression that is not listed above. */
  readonly unknown: readonly string[];
}

/** Returns the expressions of the running code, and those of the API's schemas. */
export async function patternsOfTheCode(): Promise<Patterns> {
  const written = new Map<string, string[]>();
  const unknown = new Set<string>();
  for await (const path of glob([...folders], { cwd: root })) {
    if (tests.test(path)) continue;
    const { literals, hasMade } = expressionsIn(path, await readFile(join(root, path), 'utf8'));
    for (const literal of literals) written.set(literal, [...(written.get(literal) ?? []), path]);
    if (hasMade && made[path] === undefined) unknown.add(path);
  }
  const schemas: unknown = JSON.parse(await readFile(join(root, 'docs/reference/openapi.json'), 'utf8'));
  for (const pattern of schemaPatterns(schemas)) written.set(`/${pattern}/u`, ['docs/reference/openapi.json']);
  return { written, unknown: [...unknown] };
}

/** Returns one file's literals, and whether it makes expressions from anything but one string. */
export function expressionsIn(
  path: string,
  source: string,
): { readonly literals: string[]; readonly hasMade: boolean } {
  const literals: string[] = [];
  let hasMade = false;
  const make = ({ callee, arguments: given }: { callee: unknown; arguments: readonly unknown[] }): void => {
    const { type, name } = callee as { readonly type: string; readonly name?: string };
    if (type !== 'Identifier' || name !== 'RegExp') return;
    const [pattern, flags] = given as readonly { readonly type: string; readonly value?: unknown }[];
    if (typeof pattern?.value === 'string')
      literals.push(`/${pattern.value}/${typeof flags?.value === 'string' ? flags.value : ''}`);
    else hasMade = true;
  };
  new Visitor({
    Literal(node) {
      if ('regex' in node) literals.push(`/${node.regex.pattern}/${node.regex.flags}`);
    },
    NewExpression: make,
    CallExpression: make,
  }).visit(parseSync(path, source).program);
  return { literals, hasMade };
}

function schemaPatterns(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = 'pattern' in schema && typeof schema.pattern === 'string' ? [schema.pattern] : [];
  return [...own, ...Object.values(schema).flatMap(schemaPatterns)];
}

/** Whether a literal has an unbounded repetition. Without one it cannot begin anew. */
const isUnbounded = (literal: string): boolean => /[*+]|\{\d+,\}/.test(literal);

/** Returns the expressions that are neither proved nor excepted. */
export async function unproved(literals: Iterable<string>): Promise<string[]> {
  const proved = new Set(JSON.parse(await readFile(provedFile, 'utf8')) as readonly string[]);
  return [...literals].filter(
    (literal) => isUnbounded(literal) && !proved.has(literal) && !Object.hasOwn(excepted, literal),
  );
}

export interface Verdict {
  readonly isLinear: boolean;
  /** The complexity, such as `polynomial 2`. */
  readonly how: string;
}

export async function verdictOn(literal: string): Promise<Verdict> {
  process.env['RECHECK_BACKEND'] = backend;
  process.env['RECHECK_SYNC_BACKEND'] = backend;
  const { checkSync } = (await import('recheck')) as unknown as { readonly checkSync: SyncCheck };
  const end = literal.lastIndexOf('/');
  const found = checkSync(literal.slice(1, end), literal.slice(end + 1), { timeout: timeoutMs });
  if (found.status === 'unknown') return { isLinear: false, how: found.error.kind };
  const { type, summary } = found.complexity;
  return { isLinear: found.status === 'safe', how: `${type}: ${summary}` };
}

type SyncCheck = (...given: Parameters<typeof check>) => Awaited<ReturnType<typeof check>>;

async function main(): Promise<void> {
  const { written } = await patternsOfTheCode();
  const proved = new Set(JSON.parse(await readFile(provedFile, 'utf8').catch(() => '[]')) as readonly string[]);
  let failed = 0;
  for (const [literal, files] of written) {
    if (!isUnbounded(literal) || proved.has(literal) || Object.hasOwn(excepted, literal)) continue;
    const { isLinear, how } = await verdictOn(literal);
    if (isLinear) proved.add(literal);
    else {
      failed += 1;
      process.stderr.write(`${files.join(', ')}: ${literal} is ${how}\n`);
    }
  }
  const kept = [...proved].filter((literal) => written.has(literal)).toSorted();
  await writeFile(provedFile, `${JSON.stringify(kept, null, 2)}\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}

if (import.meta.main) await main();
