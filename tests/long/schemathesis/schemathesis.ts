/**
 * Schemathesis, which makes requests from an OpenAPI document and checks the replies against it. It is installed by pip into
 * the cache, once for each list of versions.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const requirements = new URL('requirements.txt', import.meta.url).pathname;
const installMs = 10 * 60_000;
const runMs = 20 * 60_000;
const outputBytes = 64 * 2 ** 20;
const call = promisify(execFile);

export interface Run {
  /** Origin of the service. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Arguments of `schemathesis run` beside the checks, such as the operations. */
  readonly options: readonly string[];
  /** Values of parameters, by `path.<name>` or `query.<name>`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The same for single operations, by `METHOD /path`. */
  readonly operations?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Outcome {
  /** Null where every reply was as the document says; else what Schemathesis prints. */
  readonly problems: string | null;
  /** Operations that were asked. */
  readonly tested: number;
  readonly output: string;
}

/** A reply breaks its contract when it is a 5xx, or has a status, type, header or body that the document does not have. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
].join();

export async function runSchemathesis(run: Run): Promise<Outcome> {
  const packages = await installed();
  const folder = await mkdtemp('/tmp/schemathesis-');
  try {
    await writeFile(join(folder, 'schemathesis.toml'), configOf(run));
    const argv = [
      '-m',
      'schemathesis.cli',
      '--config-file',
      'schemathesis.toml',
      'run',
      `${run.url}/v1/openapi.json`,
      '--url',
      run.url,
      '--phases',
      'coverage',
      '--checks',
      checks,
      '--continue-on-failure',
      '--no-color',
      // One worker: in Python 3.11 threads that parse at the same time fail with "AST constructor recursion depth mismatch".
      '--workers',
      '1',
      '--request-timeout',
      '60',
      '--warnings',
      'off',
      '--generation-deterministic',
      ...Object.entries(run.headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
      ...run.options,
    ];
    const env = { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1', HOME: folder };
    const options = { cwd: folder, env, timeout: runMs, maxBuffer: outputBytes };
    const { output, isGood } = await call('python3', argv, options).then(
      ({ stdout, stderr }) => ({ output: stdout + stderr, isGood: true }),
      (error: Error & { stdout?: string; stderr?: string }) => ({
        output: `${error.stdout ?? ''}${error.stderr ?? ''}\n${error.message.slice(0, 200)}`,
        isGood: false,
      }),
    );
    const tested = Number(/^ +Tested: (\d+)$/m.exec(output)?.[1] ?? 0);
    return { problems: isGood ? null : output, tested, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function configOf({ parameters, operations = {} }: Run): string {
  const lines = (values: Readonly<Record<string, string>>): string[] =>
    Object.entries(values).map(([name, value]) => `${JSON.stringify(name)} = ${JSON.stringify(value)}`);
  const own = Object.entries(operations).flatMap(([name, values]) => [
    '[[operations]]',
    `include-name = ${JSON.stringify(name)}`,
    '[operations.parameters]',
    ...lines(values),
  ]);
  return ['[parameters]', ...lines(parameters), ...own, ''].join('\n');
}

/** The folder with the packages, for this list of versions and this Python. */
async function installed(): Promise<string> {
  const { stdout: python } = await call('python3', ['--version']);
  const hash = createHash('sha256')
    .update(python)
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 16);
  const parts = join(process.env['LODGE_CACHE_DIR'] ?? '/var/cache/lodge', 'parts');
  const folder = join(parts, `schemathesis-${hash}`);
  if (
    await access(folder).then(
      () => true,
      () => false,
    )
  )
    return folder;
  await mkdir(parts, { recursive: true });
  const draft = await mkdtemp(join(parts, `draft-schemathesis-`));
  try {
    const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary=:all:', '--target', draft, '-r', requirements];
    await call('python3', pip, { timeout: installMs, maxBuffer: outputBytes });
    // A second run that installed at the same time may have been faster.
    await rename(draft, folder).catch(() => undefined);
    return folder;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
