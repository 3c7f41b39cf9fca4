// Package watch keeps an index in memory, current with the folder that it describes, and answers
// searches from it on a loopback endpoint.
//
//  1. Take the writer lock, load the index, and compare the folder with it by modification time and
//     size: what differs is read again, what is gone is removed.
//  2. Watch every folder. When the system has no watches left, say so and compare the whole folder
//     from time to time instead.
//  3. Collect events until they pause, then let one worker bring the index up to date, in order. An
//     event says only that something happened at a path; what is there now is looked at then, so
//     lost, repeated and reordered events do no harm.
//  4. After each round prepare the index for searching and swap it in; a search never waits for the
//     worker and never sees half a round.
//  5. At the end write the index, in one step, and remove the discovery file.
//
// Nothing here follows a symbolic link or reads outside the folder.
package watch
