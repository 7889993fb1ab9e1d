/**
 * Asks the host before commands and changes of files. Where the owner has no rules for them, it reads one small file of root's
 * and asks nobody. Where there are rules and the host does not answer, nothing is run.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { posix } from 'node:path';

/** The host writes the file, and answers at the door. */
const places = { settings: '/etc/lodge/confirm.json', door: 'http://10.0.2.2:4000/confirm' };
/** The host waits for a person for four minutes. */
const answerMs = 280_000;
/** Bytes of an answer. */
const maxAnswer = 64 * 1024;
const maxDetail = 4_000;

/** The text of a command, as rules see it, by tool; null where nothing is changed. */
const texts = {
  exec: ({ command }) => command,
  process: ({ action, data, text, literal, keys, hex }) =>
    ['write', 'send-keys', 'submit', 'paste'].includes(action)
      ? (data ?? text ?? literal ?? [...(keys ?? []), ...(hex ?? [])].join(' '))
      : null,
  write: writing,
  edit: writing,
  apply_patch: ({ input }, context) => {
    const paths = [...String(input).matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)];
    return paths.map(([, path]) => writing({ path }, context)).join('\n');
  },
};

function writing({ path, file_path: other }, { agentId }) {
  const folder = !agentId || agentId === 'main' ? '/workspace' : `/workspace/members/${agentId}`;
  return `write ${posix.resolve(folder, String(path ?? other))}`;
}

/** Whether the owner has rules for commands. A file that cannot be read means yes. */
function hasRules(settingsPath) {
  try {
    return readFileSync(settingsPath, 'utf8').trim() !== '{"commands":false}';
  } catch (error) {
    return error.code !== 'ENOENT';
  }
}

function ask(door, body, signal) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asking = request(door, { method: 'POST', headers, agent: false, timeout: answerMs, signal }, (reply) => {
      let said = '';
      reply.setEncoding('utf8');
      reply.on('data', (text) => {
        said += text;
        if (said.length > maxAnswer) asking.destroy(new Error('the answer is too long'));
      });
      reply.on('error', reject);
      reply.on('end', () => resolve({ status: reply.statusCode, said }));
    });
    asking.on('timeout', () => asking.destroy(new Error('no answer came')));
    asking.on('error', reject);
    asking.end(body);
  });
}

const block = (blockReason) => ({ block: true, blockReason });
const unasked = 'Not done: the owner wants to be asked first, and could not be asked. Try again later.';

export const askingAt =
  ({ settings, door }) =>
  async ({ toolName, params }, context) => {
    if (!hasRules(settings)) return undefined;
    try {
      const text = texts[toolName]?.(params, context);
      if (text === null) return undefined;
      const whole = JSON.stringify(params);
      const digest = createHash('sha256').update(whole).digest('hex');
      const detail = whole.slice(0, maxDetail);
      const body = JSON.stringify({ tool: toolName, text: String(text ?? ''), detail, digest });
      const { status, said } = await ask(door, body, context.abortSignal);
      const { verdict, message } = JSON.parse(said);
      if (status === 200 && verdict === 'allowed') return undefined;
      return block(typeof message === 'string' && message !== '' ? message : unasked);
    } catch {
      return block(unasked);
    }
  };

export default {
  id: 'lodge-confirm',
  name: 'Lodge: confirmations',
  description: 'Asks the host before commands and changes of files.',
  register(api) {
    // By default OpenClaw gives a plugin 15 seconds.
    api.on('before_tool_call', askingAt(places), { matcher: Object.keys(texts), timeoutMs: 300_000 });
  },
};
