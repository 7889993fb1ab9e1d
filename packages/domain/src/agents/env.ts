/** Variables that an owner gives to the programs of an agent's machine. */
import { Refusal } from '../refusal.ts';

/** Values by name. They are no secrets: the agent reads them. */
export type Variables = Readonly<Record<string, string>>;

/** Most variables of an agent. */
export const maxVariables = 64;
/** Most bytes of one value, in UTF-8. */
export const maxVariableBytes = 4_096;
export const maxVariableName = 64;
/** A name that every shell takes. */
export const variableNamePattern = '^[A-Za-z_][A-Za-z0-9_]*$';

interface Refused {
  /** Whole names, and beginnings of names with a star behind them, in upper case. */
  readonly names: readonly string[];
  /** The rest of a sentence that begins with the field's name. */
  readonly reason: string;
}

/**
 * Names that no owner and no connection sets. Whoever may set one of these runs other code in each program of the machine, or
 * reads what programs send. The owner has `exec` and packages for that, where it is seen.
 */
const refused: readonly Refused[] = [
  {
    names: ['PATH'],
    reason: 'says where programs are found: packages of the agent are on it by themselves',
  },
  {
    names: ['LD_*', 'GCONV_PATH', 'GLIBC_TUNABLES', 'LOCPATH', 'NLSPATH', 'MALLOC_*'],
    reason: 'loads other code into every program',
  },
  {
    names: 'BASH_* BASHOPTS SHELLOPTS ENV PROMPT_COMMAND PS0 PS1 PS2 PS4 IFS CDPATH FPATH GLOBIGNORE ZDOTDIR'.split(
      ' ',
    ),
    reason: 'changes what a shell runs',
  },
  {
    names: [
      ...'NODE_OPTIONS NODE_PATH NODE_REPL_* NODE_TLS_* NODE_ICU_DATA NPM_CONFIG_*'.split(' '),
      ...'PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONPLATLIBDIR PYTHONEXECUTABLE'.split(' '),
      ...'PYTHONBREAKPOINT PYTHONWARNINGS PYTHONINSPECT PYTHONPYCACHEPREFIX PIP_*'.split(' '),
      ...'PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYLIB RUBYOPT GEM_HOME GEM_PATH CLASSPATH'.split(' '),
      ...'JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS LUA_PATH LUA_CPATH PHPRC PHP_INI_SCAN_DIR'.split(' '),
    ],
    reason: 'loads other code into programs of its language',
  },
  {
    names: [
      ...'GIT_CONFIG* GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_ASKPASS'.split(' '),
      ...'GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR SSH_ASKPASS CURL_HOME WGETRC APT_CONFIG DPKG_* TAR_OPTIONS'.split(' '),
    ],
    reason: 'makes a tool run or load something else',
  },
  {
    names: ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'ALL_PROXY', 'NO_PROXY'],
    reason: 'leads requests another way: that is what egress rules and connections are for',
  },
  {
    names: [
      ...'SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE AWS_CA_BUNDLE'.split(' '),
      ...'GIT_SSL_* OPENSSL_* SSLKEYLOGFILE'.split(' '),
    ],
    reason: 'decides which servers are trusted, or tells what is said to them',
  },
  {
    names: ['RES_OPTIONS', 'LOCALDOMAIN', 'HOSTALIASES', 'RESOLV_*'],
    reason: 'changes how names are found',
  },
  {
    names: ['HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'OLDPWD', 'UID', 'EUID', 'PPID', 'SHLVL', '_'],
    reason: 'is set by the machine for each program',
  },
  {
    names: ['LODGE_*', 'OPENCLAW_*', 'HERMES_*'],
    reason: 'is of the service or of the agent’s runtime',
  },
];

const whole = new Map<string, string>();
const beginnings: (readonly [string, string])[] = [];
for (const { names, reason } of refused) {
  for (const name of names) {
    if (name.endsWith('*')) beginnings.push([name.slice(0, -1), reason]);
    else whole.set(name, reason);
  }
}

/** The reason why nobody sets this variable, or null. Programs read some of them in lower case too. */
export function refusedVariable(name: string): string | null {
  const upper = name.toUpperCase();
  return whole.get(upper) ?? beginnings.find(([start]) => upper.startsWith(start))?.[1] ?? null;
}

/** Returns the variables. Refuses with the field's name what a schema cannot say. */
export function checkedVariables(given: Variables): Variables {
  for (const [name, value] of Object.entries(given)) {
    const reason = refusedVariable(name);
    if (reason !== null) throw new Refusal('invalid_request', `env.${name} cannot be set, as it ${reason}.`);
    if (new TextEncoder().encode(value).length > maxVariableBytes)
      throw new Refusal('invalid_request', `env.${name} must have at most ${maxVariableBytes} bytes of UTF-8.`);
  }
  return given;
}
