import { parseArgs } from 'node:util';
import { readConfig } from '../config/config.ts';
import { commandLog, say } from './command.ts';
import type { Command } from './command.ts';
import { takeDown } from './take-down.ts';

export const down: Command = async (args, env) => {
  parseArgs({ args, options: {} });
  const config = readConfig(env);
  const did = await takeDown(config, commandLog(env), (what) => say(`  ${what}`));
  say(
    did
      ? `Everything of ${config.instance} is stopped. Data stays in ${config.dataDir}; npm start brings it back.`
      : `Nothing of ${config.instance} runs.`,
  );
  return 0;
};
