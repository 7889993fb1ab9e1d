/** The environment of the control plane: the named variables that it reads, and nothing else of root's. */
import { join } from 'node:path';
import { allSettings, secretVariables } from '../config/config.ts';
import type { User } from './control-user.ts';
import { freedMemory } from './freed-memory.ts';

/**
 * Names beside Lodge's settings: paths of programs, language and time, certificate authorities, proxies, the database's
 * client (pg reads these beside DATABASE_URL), and options of Node and the C library. Other variables may be for root alone,
 * such as the token of LODGE_MASTER_KEY_COMMAND or a service manager's secrets.
 */
const passedNames = [
  /^(PATH|TMPDIR|TZ|LANG|LANGUAGE|LC_[A-Z]+)$/,
  /^((http|https|all|no)_proxy)$/i,
  /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|OPENSSL_CONF)$/,
  /^NODE_(ENV|OPTIONS|DEBUG|NO_WARNINGS|USE_ENV_PROXY|USE_SYSTEM_CA|TLS_REJECT_UNAUTHORIZED|ICU_DATA|V8_COVERAGE)$/,
  /^PG(HOST|PORT|DATABASE|USER|PASSWORD|PASSFILE|OPTIONS|SSL[A-Z]+|CONNECT_TIMEOUT|APPNAME|CLIENT_ENCODING)$/,
  /^(UV_THREADPOOL_SIZE|MALLOC_[A-Z_]+|GLIBC_TUNABLES|LD_PRELOAD|LD_LIBRARY_PATH|RES_OPTIONS|LOCALDOMAIN)$/,
];

const settingNames: readonly string[] = allSettings.map(({ name }) => name);

/** `others`: variables that the entry of this process reads itself. */
export function controlEnvironment(
  env: NodeJS.ProcessEnv,
  { name }: Pick<User, 'name'>,
  ownFolder: string,
  others: readonly string[] = [],
): NodeJS.ProcessEnv {
  const isPassed = (each: string): boolean =>
    !secretVariables.includes(each) &&
    (settingNames.includes(each) || others.includes(each) || passedNames.some((pattern) => pattern.test(each)));
  const passed = Object.fromEntries(Object.entries(env).filter(([each]) => isPassed(each)));
  const identity = { HOME: ownFolder, USER: name, LOGNAME: name };
  // Root must never run code that the control plane compiled, so its cache lies in its own folder.
  const cache = env['NODE_COMPILE_CACHE'] && { NODE_COMPILE_CACHE: join(ownFolder, 'node') };
  return { ...freedMemory, ...passed, ...identity, ...cache };
}
