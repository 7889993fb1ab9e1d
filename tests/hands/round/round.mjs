// README's round by JavaScript.
import { readFile } from 'node:fs/promises';
import { Lodge } from '@lodge/sdk';

const { NAME, MODEL, PROVIDER, PROVIDER_KEY, QUESTION, AGAIN, WRITTEN } = process.env;
const lodge = new Lodge();
const agent = await lodge.agents.create({
  name: NAME,
  model: MODEL,
  size: 'small',
  llm_keys: [{ provider: PROVIDER, api_key: PROVIDER_KEY }],
  lifecycle: { idle_timeout_seconds: 0 },
});
const { data: models } = await lodge.models.list();
console.log(models.find(({ id }) => id === agent.id).name);
console.log(await lodge.chat.ask(agent.id, QUESTION, { user: 'me' }));
console.log((await lodge.agents.stop(agent.id)).status);
console.log((await lodge.agents.start(agent.id)).status);
console.log((await lodge.agents.logs(agent.id)).data.length);
await lodge.files.write(agent.id, 'notes.md', await readFile('notes.md'));
for (const command of ['wc -l notes.md', `cat ${WRITTEN}`]) {
  console.log((await lodge.exec.run(agent.id, { command })).stdout);
}
console.log(await lodge.chat.ask(agent.id, AGAIN, { user: 'me' }));
console.log((await lodge.links.create(agent.id, {})).url);
await lodge.agents.delete(agent.id);
