/** Cases: files that come with a message on a channel reach the agent, and a picture its model. */
import assert from 'node:assert/strict';
import type { ChannelFile } from './platforms.ts';
import type { Results } from './results.ts';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';
import { until } from './until.ts';

const answerTimeoutMs = 5 * 60_000;
/** One red point. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const photo: ChannelFile = {
  name: 'photo.jpg',
  mediaType: 'image/jpeg',
  bytes: Buffer.from(png, 'base64'),
  as: 'photo',
};

/** Returns the pictures in a request to the model, by OpenAI's chat completions. */
function picturesIn(body: { readonly messages: readonly { readonly content: unknown }[] }): readonly string[] {
  const parts = body.messages.flatMap(({ content }): unknown[] => (Array.isArray(content) ? content : []));
  return parts.flatMap((part) => {
    const { type, image_url: image } = part as { readonly type: string; readonly image_url?: { readonly url: string } };
    return type === 'image_url' ? [image!.url] : [];
  });
}

export function attachments(results: Results, _subject: Subject, agent: () => Tested): void {
  const { check, further } = results.of(agent);

  async function exchange(agent: Tested, text: string, answer: string, file?: ChannelFile): Promise<void> {
    const person = await agent.onTelegram();
    const before = person.answers().length;
    await person.write(text, file);
    await until(`an answer to ${text}`, answerTimeoutMs, () =>
      person
        .answers()
        .slice(before)
        .some((said) => said.includes(answer)),
    ).catch((error: Error) => assert.fail(`${error.message}\n${agent.world.service.output.slice(-4000)}`));
  }

  check('a picture reaches the model with its message, once, and lies in the workspace', async (agent) => {
    const { llm } = agent.world;
    llm.script([{ text: 'A red point.' }]);
    await exchange(agent, 'What is this?', 'A red point.', photo);
    assert.deepEqual(picturesIn(llm.requests.at(-1)!.body), [`data:image/png;base64,${png}`]);
    const path = /"pictures_shown\\*":\[\\*"(\/workspace\/inbox\/[^"\\]+)/.exec(agent.lastSeen)?.[1];
    assert.equal(await agent.shell(`base64 -w0 ${path}`), png);
  });

  check('a voice note is a file of which the agent is told, and the picture is not shown again', async (agent) => {
    const { llm } = agent.world;
    llm.script([{ text: 'I cannot hear.' }]);
    const bytes = Buffer.from('OggS: no sound');
    const voice: ChannelFile = { name: 'voice.ogg', mediaType: 'audio/ogg', bytes, as: 'voice' };
    await exchange(agent, '', 'I cannot hear.', voice);
    assert.match(agent.lastSeen, /"voice_notes\\*":\[\{\\*"file\\*":\\*"\/workspace\/inbox\/[^"]*\.ogg/);
    assert.match(agent.lastSeen, /What is this\?[^]*A red point\./);
    assert.deepEqual(picturesIn(llm.requests.at(-1)!.body), []);
  });

  check('a picture in a request of the API reaches the model', async (agent) => {
    const { llm } = agent.world;
    llm.script([{ text: 'Red.' }]);
    const url = `data:image/png;base64,${png}`;
    const content = [
      { type: 'text' as const, text: 'Which colour?' },
      { type: 'image_url' as const, image_url: { url } },
    ];
    await agent.client.chat.completions.create({ model: 'any', messages: [{ role: 'user', content }] });
    assert.deepEqual(picturesIn(llm.requests.at(-1)!.body), [url]);
  });

  check('a model that refuses pictures answers without them', async (agent) => {
    const { llm } = agent.world;
    llm.script([{ status: 400, message: 'This deployment takes no such input.' }, { text: 'I see none.' }]);
    const before = llm.requests.length;
    await exchange(agent, 'And this?', 'I see none.', photo);
    const seen = llm.requests.slice(before).map(({ body }) => picturesIn(body).length);
    // OpenClaw also shows pictures of earlier turns to a model that accepts them.
    assert.ok(seen[0]! >= 1 && seen.at(-1) === 0, `${seen.join()} pictures`);
  });

  further('the conversation goes on behind a picture that was refused', async (agent) => {
    agent.world.llm.script([{ text: 'All is well.' }]);
    await exchange(agent, 'How are you?', 'All is well.');
  });
}
