import { judgePart } from './seeds.ts';

judgePart(2, 'every law holds in each history of the third part');
