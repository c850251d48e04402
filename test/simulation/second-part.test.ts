import { judgePart } from './seeds.ts';

judgePart(1, 'every law holds in each history of the second part');
