import { until } from './until.ts';
import type { Correspondent } from './platforms.ts';
import type { Tested } from './world.ts';

const answerTimeoutMs = 5 * 60_000;

/** Returns the id of the conversation of a person who has said hello on Telegram. */
export async function conversationWith(agent: Tested, person: Correspondent): Promise<string> {
  agent.world.llm.script([{ text: 'Hello to you.' }]);
  await person.write('Hello');
  await until('an answer to hello', answerTimeoutMs, () => person.answers().some((text) => text.includes('Hello to')));
  const { body } = await agent.world.service.call('GET', `/agents/${agent.id}/messages?channel=telegram&limit=1`);
  return (body as { data: { conversation: { id: string } }[] }).data[0]!.conversation.id;
}
