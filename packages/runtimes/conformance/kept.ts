import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Subject } from './subjects.ts';
import type { Tested } from './world.ts';

/** A word that an agent learns in one conversation, and a file that it writes. Neither may ever be lost. */
export class Kept {
  readonly user: string;
  readonly word = `word-${randomBytes(6).toString('hex')}`;
  private readonly seed = randomBytes(6).toString('hex');
  private readonly subject: Subject;

  constructor(subject: Subject, user: string) {
    this.subject = subject;
    this.user = user;
  }

  /** Runs one turn with a command. Calls `answered` at once when the agent has answered, in place of a look at the file. */
  async tell(agent: Tested, answered?: () => void): Promise<void> {
    const command = `printf %s ${this.seed} | sha256sum > kept.txt`;
    agent.world.llm.script([{ toolCalls: [this.subject.shell(command)] }, { text: 'Noted and written.' }]);
    const said = await agent.answer(`The word is ${this.word}. Write the file.`, { user: this.user });
    answered?.();
    assert.match(said, /Noted and written\./);
    if (!answered) await this.isOnDisk(agent);
  }

  async remembers(agent: Tested, query?: Record<string, string>): Promise<void> {
    agent.world.llm.script([{ text: 'I remember.' }]);
    const said = await agent.answer('What was the word?', { user: this.user, ...(query && { query }) });
    assert.match(said, /I remember\./);
    const { messages } = agent.world.llm.requests.at(-1)!.body as { messages: { role: string }[] };
    const users = messages.filter(({ role }) => role === 'user');
    assert.match(JSON.stringify(users[0]), new RegExp(this.word), 'the first thing said is still the first');
    await this.isOnDisk(agent);
  }

  /** The file's content. Only the runner of the command knows it, because it is in no message. */
  get written(): string {
    return `${createHash('sha256').update(this.seed).digest('hex')}  -\n`;
  }

  async isOnDisk(agent: Tested): Promise<void> {
    assert.equal(await agent.file('/workspace/kept.txt'), this.written);
  }
}
