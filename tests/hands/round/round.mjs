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
await lodge.files.write(agent.id, 'notes.md', await readFile('notes.md'));
console.log((await lodge.exec.run(agent.id, { command: 'wc -l notes.md' })).stdout);
console.log((await lodge.agents.stop(agent.id)).status);
console.log((await lodge.agents.start(agent.id)).status);
for (const path of ['notes.md', WRITTEN]) console.log(await (await lodge.files.read(agent.id, path)).text());
console.log(await lodge.chat.ask(agent.id, AGAIN, { user: 'me' }));
console.log((await lodge.agents.logs(agent.id)).data.length);
console.log((await lodge.usage.agent(agent.id)).data.length);
console.log((await lodge.links.create(agent.id, {})).url);
await lodge.agents.delete(agent.id);
