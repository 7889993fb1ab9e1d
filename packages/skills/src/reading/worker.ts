/** The thread of one job. */
import { parentPort } from 'node:worker_threads';
import { doSkillJob } from './jobs.ts';
import type { SkillJob, SkillResult } from './jobs.ts';

parentPort!.once('message', (job: SkillJob) => {
  void doSkillJob(job).then((result: SkillResult) => {
    const memory = 'skill' in result ? result.skill.files.map(({ content }) => content.buffer as ArrayBuffer) : [];
    parentPort!.postMessage(result, memory);
  });
});
