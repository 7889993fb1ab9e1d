/**
 * Names what breaks clients of the last release: compares docs/reference/openapi.json with the document of that release,
 * docs/reference/openapi.released.json, and fails if anything does. `--release` makes today's document the released one.
 */
import { execFile } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const root = join(import.meta.dirname, '..');
const current = join(root, 'docs/reference/openapi.json');
const released = join(root, 'docs/reference/openapi.released.json');
const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');
const maxReportBytes = 64 * 1024 * 1024;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: { readonly enum?: readonly unknown[] };
}

interface Change {
  readonly path: string;
  readonly typeName: string;
  readonly kind: 'added' | 'removed' | 'modified';
  readonly impact: 'major' | 'minor' | 'patch';
  readonly base?: { readonly value?: unknown };
  readonly revision?: { readonly value?: unknown };
  readonly verdicts: readonly { readonly ruleId: string; readonly impact: string; readonly message: string }[];
}

/** Changes that the document itself announces: new error codes and new scopes may come at any time. */
const announced = (path: string, ruleId: string): boolean =>
  ruleId === 'enum-values-added' && (path.endsWith('/properties/code') || path.endsWith('/properties/scopes/items'));

/** Lists the changes between two documents (paths of files) that break a client: each place, and the change there. */
export async function breaksBetween(base: string, revision: string): Promise<string[]> {
  const report = await reportOf(base, revision);
  const { changes } = JSON.parse(report) as { readonly changes: readonly Change[] };
  return changes
    .filter((change) => change.impact === 'major' && !isWidened(change, changes))
    .flatMap(({ path, verdicts }) =>
      verdicts
        .filter((verdict) => verdict.impact === 'major' && !announced(path, verdict.ruleId))
        .map(({ message }) => `${path.replaceAll('~1', '/')}: ${message}`),
    );
}

/**
 * Whether a "removed" parameter is there with further values. Redocly takes a parameter whose values became many for another
 * one.
 */
function isWidened({ path, typeName, kind, base }: Change, changes: readonly Change[]): boolean {
  if (typeName !== 'Parameter' || kind !== 'removed') return false;
  const removed = base!.value as Parameter;
  const operation = path.slice(0, path.lastIndexOf('/') + 1);
  return changes.some((change) => {
    if (change.typeName !== 'Parameter' || change.kind !== 'added' || !change.path.startsWith(operation)) return false;
    const added = change.revision!.value as Parameter;
    const { enum: before = [], ...schemaBefore } = removed.schema;
    const { enum: values = [], ...schema } = added.schema;
    return (
      added.name === removed.name &&
      added.in === removed.in &&
      added.required === removed.required &&
      before.length > 0 &&
      before.every((value) => values.includes(value)) &&
      isDeepStrictEqual(schema, schemaBefore)
    );
  });
}

/** Asks Redocly, which asks nobody: it sends no telemetry and looks for no update. */
function reportOf(base: string, revision: string): Promise<string> {
  const args = [redocly, 'diff', base, revision, '--format', 'json', '--fail-on', 'none'];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: root, env, maxBuffer: maxReportBytes }, (error, stdout, stderr) => {
      if (error) reject(new Error(`redocly diff failed: ${stderr}`, { cause: error }));
      else resolve(stdout);
    });
  });
}

if (import.meta.main) {
  if (process.argv.includes('--release')) await copyFile(current, released);
  const isSame = (await readFile(current, 'utf8')) === (await readFile(released, 'utf8'));
  const breaks = isSame ? [] : await breaksBetween(released, current);
  for (const line of breaks) console.error(line);
  if (breaks.length > 0) {
    console.error(`${breaks.length} changes break clients of the last release: docs/contributing/releasing.md`);
    process.exitCode = 1;
  }
}
