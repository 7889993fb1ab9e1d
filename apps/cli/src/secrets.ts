/**
 * Secrets that a command takes: from a prompt, a variable, a file or stdin. They are never arguments, which every user of a
 * machine can read.
 */
import { usageError } from './failure.ts';
import type { Run } from './run.ts';
import { askSecret, readStdin } from './terminal/prompt.ts';
import { quoted } from './terminal/safe.ts';
import { readText } from './values.ts';

const forms = 'env:NAME, file:PATH, or - for stdin';

/**
 * Returns the secret of a source: `env:NAME`, `file:PATH`, or `-` for stdin. Without one the person is asked. `option` is how the
 * source is given, such as `--llm-key anthropic=`.
 */
export async function readSecret(
  run: Run,
  source: string | undefined,
  question: string,
  option: string,
): Promise<string> {
  const secret =
    source === undefined
      ? await askSecret(run, question, `Give ${option}${forms}.`)
      : await fromSource(run, source, option);
  const trimmed = secret.trim();
  if (trimmed === '') throw usageError(`${option}: the secret is empty.`);
  return trimmed;
}

async function fromSource(run: Run, source: string, option: string): Promise<string> {
  if (source === '-') return readStdin(run.signal);
  if (source.startsWith('file:')) return readText(run, source.slice('file:'.length));
  if (!source.startsWith('env:'))
    throw usageError(`${option}: a secret is not given as an argument.`, `Give ${option}${forms}.`);
  const name = source.slice('env:'.length);
  const value = run.env[name];
  if (value === undefined || value === '') throw usageError(`${option}: the variable ${quoted(name)} is not set.`);
  return value;
}

export interface LlmKey {
  readonly provider: string;
  readonly api_key: string;
}

/** Returns the keys of `--llm-key PROVIDER[=SOURCE]`. */
export async function readLlmKeys(run: Run, sources: readonly string[] | undefined): Promise<LlmKey[] | undefined> {
  if (sources === undefined) return undefined;
  const keys: LlmKey[] = [];
  for (const each of sources) {
    const at = each.indexOf('=');
    const provider = at < 0 ? each : each.slice(0, at);
    const source = at < 0 ? undefined : each.slice(at + 1);
    const name = quoted(provider);
    keys.push({ provider, api_key: await readSecret(run, source, `API key of ${name}:`, `--llm-key ${name}=`) });
  }
  return keys;
}
