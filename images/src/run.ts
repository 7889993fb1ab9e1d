import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import type { Log } from '@lodge/ports';
import { ImageError } from './errors.ts';
import { hostTools } from './requirements.ts';

export interface ToolRun {
  /** The tool by name or path, then its arguments. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  /** Variables to add to the passed environment; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly timeoutMs: number;
  /** Advice for the operator when it fails. */
  readonly advice: string;
  /** Finds the line with the reason of a failure; by default the last line. */
  readonly reason?: RegExp;
  /** Its name for the operator, when it is not the first word of `argv`. */
  readonly title?: string;
  readonly onLine?: (line: string) => void;
}

export interface RunContext {
  readonly log: Log;
  readonly signal: AbortSignal;
}

const keptLines = 40;
const longestLine = 2_000;
/** Milliseconds between asking a tool to end and killing its group. */
const graceMs = 5_000;

/**
 * Names of the environment variables that a tool gets: paths of programs and folders, proxies, certificate authorities, and
 * the registries of npm, pip and apt. Tools run code of others, and this process's environment may contain the master key,
 * providers' tokens and the database's password.
 */
const passedNames = [
  /^(PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|TERM|TZ|LANG|CI|XDG_(CACHE|CONFIG|RUNTIME)_(HOME|DIR))$/,
  /^((http|https|ftp|all|no)_proxy)$/i,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|APT_CONFIG)$/,
  /^npm_config_(userconfig|globalconfig|registry|cafile|ca|strict_ssl|(https?_|no)?proxy|fetch_[a-z_]+)$|^(NPM_TOKEN|NODE_AUTH_TOKEN)$/i,
  /^PIP_((EXTRA_)?INDEX_URL|FIND_LINKS|CERT|PROXY|CONFIG_FILE|TRUSTED_HOST|DEFAULT_TIMEOUT|RETRIES)$/,
];

const passed = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => passedNames.some((pattern) => pattern.test(name))));

/** Runs a tool of the host and returns its standard output. The tool ends with this process, even when that is killed. */
export async function run(tool: ToolRun, { log, signal }: RunContext): Promise<string> {
  signal.throwIfAborted();
  const name = tool.title ?? tool.argv[0];
  // A tool that outlives its builder would go on writing into a folder that the next builder clears.
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...tool.argv], {
    cwd: tool.cwd,
    env: { ...passed(process.env), LC_ALL: 'C.UTF-8', ...tool.env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined); // It may end before it has read everything.
  child.stdin.end(tool.stdin ?? '');
  const lines: string[] = [];
  const take = (line: string): void => {
    lines.push(line.slice(0, longestLine));
    if (lines.length > keptLines) lines.shift();
    tool.onLine?.(line);
  };
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  createInterface({ input: child.stdout }).on('line', take);
  createInterface({ input: child.stderr }).on('line', take);

  const limit = AbortSignal.any([signal, AbortSignal.timeout(tool.timeoutMs)]);
  const stop = stopper(child.pid);
  limit.addEventListener('abort', stop.begin);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('error', (error) => {
    reject(new ImageError(`setpriv could not be started. ${installAdvice('setpriv')}`, { cause: error }));
  });
  child.once('close', (code, killedBy) => resolve(code ?? 128 + (constants.signals[killedBy ?? 'SIGKILL'] ?? 0)));
  try {
    const status = await promise;
    signal.throwIfAborted();
    if (status === 0) return Buffer.concat(output).toString();
    const why = limit.aborted ? `took longer than ${tool.timeoutMs / 60_000} minutes` : `ended with status ${status}`;
    log.error({ tool: name, arguments: tool.argv.slice(1), status, lastLines: lines }, `${name} failed`);
    const reason = lines.find((line) => tool.reason?.test(line)) ?? lines.at(-1) ?? 'it said nothing';
    throw new ImageError(`${name} ${why}: ${reason}. ${status === notFound ? installAdvice(name) : tool.advice}`);
  } finally {
    limit.removeEventListener('abort', stop.begin);
    stop.end();
  }
}

/** The status of setpriv when there is no such program. */
const notFound = 127;

function installAdvice(tool: string): string {
  const debianPackage = (hostTools as Record<string, string>)[tool];
  return debianPackage === undefined ? `Install ${tool}.` : `Install Debian's package ${debianPackage}.`;
}

function stopper(pid: number | undefined): { begin: () => void; end: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const send = (signal: NodeJS.Signals): void => {
    try {
      if (pid !== undefined) process.kill(-pid, signal);
    } catch {
      // The group has ended.
    }
  };
  return {
    begin: () => {
      send('SIGTERM');
      timer = setTimeout(() => send('SIGKILL'), graceMs);
    },
    end: () => clearTimeout(timer),
  };
}
