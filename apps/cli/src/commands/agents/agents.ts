/** `lodge agents`: list, show, make, change, delete, and control them. */
import type { Command } from 'commander';
import { define as defineCreate } from '../../agents/create.ts';
import { define as defineFork } from '../../agents/fork.ts';
import { define as defineLifecycle } from '../../agents/lifecycle.ts';
import { define as defineList } from '../../agents/list.ts';
import { define as definePortable } from '../../agents/portable.ts';
import { define as defineUpdate } from '../../agents/update.ts';
import type { On } from '../../run.ts';

export default function agents(command: Command, on: On): void {
  defineList(command, on);
  defineCreate(command, on);
  defineUpdate(command, on);
  defineFork(command, on);
  definePortable(command, on);
  defineLifecycle(command, on);
}
