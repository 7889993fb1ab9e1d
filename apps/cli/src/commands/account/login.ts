/** `lodge login`: a key for this machine, which a person approves in the browser, or which stdin gives. */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { placeOf } from '../../context/choice.ts';
import { checkedName, checkedUrl, readConfig, writeConfig } from '../../context/config.ts';
import type { Config } from '../../context/config.ts';
import { keepKey } from '../../context/keys.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import { awaitKey, requestCode } from '../../login/device.ts';
import type { On, Run, SharedOptions } from '../../run.ts';
import { openInBrowser, webAddress } from '../../terminal/browser.ts';
import { withProgress } from '../../terminal/progress.ts';
import { askSecret, canAsk, readStdin } from '../../terminal/prompt.ts';
import { safeLine } from '../../terminal/safe.ts';

interface LoginOptions {
  readonly withKey?: true;
  readonly scopes?: string;
  readonly browser: boolean;
}

const keyPattern = /^[\x21-\x7e]{1,2048}$/;
const maxHostChars = 60;

export default function login(command: Command, on: On): void {
  command
    .argument('[address]', 'address of the deployment; otherwise that of the current context')
    .option('--with-key', 'take a key from stdin instead of the browser')
    .option('--scopes <scopes>', 'scopes to ask for, parted by commas; the person may give less')
    .option('--no-browser', 'do not open a browser, and only print the address');
  examples(
    command,
    ['lodge login https://lodge.example.com', 'sign in, and keep this deployment as a context'],
    ['lodge login --context work --url https://lodge.example.com', 'the same, under a name of your choice'],
    ['lodge login --with-key < key.txt', 'take a key that was made in the account area'],
  ).action(on(signIn));
}

async function signIn(run: Run, options: LoginOptions & SharedOptions, address: string | undefined): Promise<void> {
  const config = await readConfig(run.env);
  const { name, url } = whereTo(run, config, options, address);
  run.circumstances = { url };
  const key = options.withKey ? await keyOfPerson(run) : await keyOfBrowser(run, url, options);
  const lodge = await run.lodgeAt(url, key);
  const { name: account } = await withProgress(run.out, 'Checking the key', () => lodge.account.get(run.call));
  const place = await keepKey(run.env, name, url, key);
  const latest = await readConfig(run.env);
  await writeConfig(run.env, {
    current: name,
    contexts: { ...latest.contexts, [name]: { url, key: place, isOwn: options.withKey !== true } },
  });
  run.out.result(
    { context: name, url, account, key: place },
    () => `Signed in to ${url} as ${safeLine(account, 100)}, as the context ${name}.\n`,
  );
  if (!run.out.isJson)
    run.out.note(
      place === 'keyring' ? "The key is in the system's keyring." : 'The key is in a file that only you can read.',
    );
}

/** Returns the address, and the name of the context that is made or signed in to anew. */
function whereTo(
  run: Run,
  config: Config,
  options: SharedOptions,
  address: string | undefined,
): { readonly name: string; readonly url: string } {
  if (address !== undefined && options.url !== undefined) throw usageError('Give the address once.');
  const named = options.context === undefined ? undefined : checkedName(options.context);
  const url = address ?? options.url;
  // A new name has no address yet.
  const isNew = named !== undefined && !Object.hasOwn(config.contexts, named);
  const asked = {
    ...(url !== undefined && { url: checkedUrl(url, 'ADDRESS') }),
    ...(named !== undefined && !isNew && { context: named }),
  };
  const place = placeOf(config, run.env, asked);
  return { name: named ?? place.name ?? nameFor(config, place.url), url: place.url };
}

/** Returns a new name for a deployment: its host's, or `local`. */
function nameFor(config: Config, url: string): string {
  const { hostname: host, port } = new URL(url);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(host);
  const name = isLocal ? 'local' : host.replaceAll(/[^A-Za-z0-9.-]/g, '').slice(0, maxHostChars) || 'lodge';
  if (!Object.hasOwn(config.contexts, name)) return checkedName(name);
  const withPort = `${name}-${port === '' ? 'default' : port}`;
  if (!Object.hasOwn(config.contexts, withPort)) return checkedName(withPort);
  throw usageError('There are contexts of this name already.', 'Name this one: `lodge login --context NAME`.');
}

async function keyOfPerson(run: Run): Promise<string> {
  const given = canAsk(run) ? await askSecret(run, 'API key:', '') : await readStdin(run.signal);
  const key = given.trim();
  if (!keyPattern.test(key))
    throw usageError('stdin holds no key.', 'Give the key alone: lodge login --with-key < key.txt');
  return key;
}

async function keyOfBrowser(run: Run, url: string, { scopes, browser }: LoginOptions): Promise<string> {
  const scope = scopes?.split(/[\s,]/).filter(Boolean).join(' ');
  const name = `lodge on ${safeLine(hostname(), maxHostChars)}`;
  const code = await requestCode(url, name, scope, run.signal);
  const userCode = safeLine(code.userCode, 40);
  const page = webAddress(code.verificationUriComplete);
  run.out.note(`Your code: ${run.out.paintError('bold', userCode)}`);
  const isOpen = browser && (await openInBrowser(run.env, page));
  run.out.note(
    isOpen
      ? 'The browser shows the same code: approve it there. If it did not open, go to:'
      : 'Open this address in a browser, and approve the request if it shows the same code:',
  );
  run.out.note(`  ${page}`);
  return withProgress(run.out, 'Waiting for the approval', () => awaitKey(url, code, run.signal));
}
