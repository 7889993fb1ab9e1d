import { until } from './until.ts';
import type { Tested } from './world.ts';

const answerTimeoutMs = 5 * 60_000;

/** Returns the id of the conversation on Telegram. The person says hello there when nothing was said yet. */
export async function telegramConversation(agent: Tested): Promise<string> {
  const person = await agent.onTelegram();
  if (person.answers().length === 0) {
    agent.world.llm.script([{ text: 'Hello to you.' }]);
    await person.write('Hello');
    await until('an answer to hello', answerTimeoutMs, () => person.answers().length > 0);
  }
  const { body } = await agent.world.service.call('GET', `/agents/${agent.id}/messages?channel=telegram&limit=1`);
  return (body as { data: { conversation: { id: string } }[] }).data[0]!.conversation.id;
}
