/** The baseline: long polls of Telegram bots, and an answer to each message at once. It stores and checks nothing. */
import { once } from 'node:events';

export interface DirectOrder {
  readonly apiRoot: string;
  readonly tokens: readonly string[];
}

interface Update {
  readonly update_id: number;
  readonly message: { readonly chat: { readonly id: number }; readonly text: string };
}

const [{ apiRoot, tokens }] = (await once(process, 'message')) as [DirectOrder];
process.on('disconnect', () => process.exit(0));
await Promise.all(tokens.map(answerAll));

async function answerAll(token: string): Promise<never> {
  const call = async (method: string, body: object): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${apiRoot}/bot${token}/${method}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return ((await reply.json()) as { result: unknown }).result;
  };
  for (let offset = 0; ;) {
    const updates = (await call('getUpdates', { offset, timeout: 50 })) as readonly Update[];
    for (const { update_id: id, message } of updates) {
      offset = id + 1;
      void call('sendMessage', { chat_id: message.chat.id, text: message.text });
    }
  }
}
