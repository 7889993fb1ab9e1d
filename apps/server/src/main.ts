import { runLodge } from './run.ts';

await runLodge(process.env);
